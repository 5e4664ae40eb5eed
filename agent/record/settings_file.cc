#include "agent/record/settings_file.h"

#include <cstring>
#include <initializer_list>

#include "agent/sys/os.h"

namespace heapgauge::agent {
namespace {

constexpr size_t kMostBytes = 16 << 10;
constexpr size_t kMostEntries = 64;
constexpr char kPrefix[] = "HEAPGAUGE_";
constexpr size_t kPrefixBytes = sizeof kPrefix - 1;

char file_text[kMostBytes + 1];
char entry_text[kMostBytes + kMostEntries * (kPrefixBytes + 2)];
char* merged[4 * kMostEntries + 1];

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool IsKey(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; }

struct Span {
  const char* begin;
  const char* end;
  size_t size() const { return static_cast<size_t>(end - begin); }
  bool Is(const char* word) const {
    return strlen(word) == size() && memcmp(begin, word, size()) == 0;
  }
};

Span Trimmed(Span span) {
  while (span.begin < span.end && IsBlank(*span.begin)) ++span.begin;
  while (span.begin < span.end && IsBlank(span.end[-1])) --span.end;
  return span;
}

// Switches are 0 and 1 everywhere else; a file invites to write them otherwise.
Span PlainValue(Span value) {
  static constexpr char kDigits[] = "01";
  for (const char* word : {"on", "yes", "true"}) {
    if (value.Is(word)) return {kDigits + 1, kDigits + 2};
  }
  for (const char* word : {"off", "no", "false"}) {
    if (value.Is(word)) return {kDigits, kDigits + 1};
  }
  return value;
}

// One line; false if it is no setting.
bool Split(Span line, Span* key, Span* value) {
  line = Trimmed(line);
  if (line.size() == 0 || *line.begin == '#') return false;
  const char* equals = line.begin;
  while (equals < line.end && *equals != '=') ++equals;
  if (equals == line.end) return false;
  *key = Trimmed({line.begin, equals});
  *value = PlainValue(Trimmed({equals + 1, line.end}));
  for (const char* at = key->begin; at < key->end; ++at) {
    if (!IsKey(*at)) return false;
  }
  return key->size() != 0;
}

}  // namespace

size_t ParseSettings(const char* text, char* out, size_t bytes, char** entries, size_t most) {
  size_t count = 0;
  const char* const out_end = out + bytes;
  while (*text != '\0' && count < most) {
    const char* end = strchr(text, '\n');
    if (end == nullptr) end = text + strlen(text);
    Span key{};
    Span value{};
    if (Split({text, end}, &key, &value)) {
      const size_t needed = kPrefixBytes + key.size() + 1 + value.size() + 1;
      if (static_cast<size_t>(out_end - out) < needed) break;
      entries[count++] = out;
      memcpy(out, kPrefix, kPrefixBytes);
      out += kPrefixBytes;
      for (const char* at = key.begin; at < key.end; ++at) {
        *out++ = *at >= 'a' && *at <= 'z' ? static_cast<char>(*at - 'a' + 'A') : *at;
      }
      *out++ = '=';
      memcpy(out, value.begin, value.size());
      out += value.size();
      *out++ = '\0';
    }
    text = *end == '\0' ? end : end + 1;
  }
  entries[count] = nullptr;
  return count;
}

char** WithSettingsFile(char** environment) {
  if (os::RunsWithElevatedRights()) return environment;
  const char* path = "/etc/heapgauge.conf";
  // Room for as many of the environment's as matter; what has no place loses, and no program has
  // so many.
  size_t count = 0;
  constexpr size_t kMostOfEnvironment = 3 * kMostEntries;
  for (char** entry = environment; *entry != nullptr && count < kMostOfEnvironment; ++entry) {
    if (strncmp(*entry, "HEAPGAUGE_CONFIG=", 17) == 0) path = *entry + 17;
    if (strncmp(*entry, kPrefix, kPrefixBytes) == 0 ||
        strncmp(*entry, "XDG_RUNTIME_DIR=", 16) == 0) {
      merged[count++] = *entry;
    }
  }
  if (*path == '\0') return environment;
  const long length = os::ReadTrustedFile(path, os::EffectiveUserId(), file_text, sizeof file_text);
  if (length <= 0) return environment;
  ParseSettings(file_text, entry_text, sizeof entry_text, merged + count, kMostEntries);
  return merged;
}

}  // namespace heapgauge::agent
