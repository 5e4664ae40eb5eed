#include "agent/record/settings.h"

#include <cstring>
#include <initializer_list>

#include "agent/sys/environment.h"
#include "agent/sys/os.h"

namespace heapgauge::agent {
namespace {

void ReadFlag(const char* text, bool* flag) {
  if (text[0] == '0' && text[1] == '\0') *flag = false;
  if (text[0] == '1' && text[1] == '\0') *flag = true;
}

// gperftools' words for HEAPGAUGE_MMAP, which its programs on this agent use. Its profiler starts
// later; mappings must be recorded from the start.
bool GperftoolsWantsMappings(char** environment) {
  if (*EnvironmentValue(environment, "HEAPPROFILE") == '\0') return false;
  const auto is_set = [environment](const char* name) {
    const char first = *EnvironmentValue(environment, name);
    return first == '1' || first == 't' || first == 'T' || first == 'y' || first == 'Y';
  };
  return is_set("HEAP_PROFILE_MMAP") || is_set("HEAP_PROFILE_ONLY_MMAP");
}

// Reads settings one after the other and remembers the first that makes no sense.
class DumpReader {
 public:
  DumpReader(char** environment, const char** ignored)
      : environment_(environment), ignored_(ignored) {}

  void Flag(const char* name, bool* flag) const {
    uint64_t number = *flag;
    Number(name, 0, 1, &number);
    *flag = number != 0;
  }

  template <typename T>
  void Number(const char* name, uint64_t least, uint64_t most, T* number) const {
    const char* text = EnvironmentValue(environment_, name);
    if (*text == '\0') return;
    uint64_t value;
    if (ParseSize(text, &value) && value >= least && value <= most) {
      *number = static_cast<T>(value);
    } else if (**ignored_ == '\0') {
      *ignored_ = text - strlen(name) - 1;  // the whole entry
    }
  }

 private:
  char** environment_;
  const char** ignored_;
};

}  // namespace

DumpSettings ReadDumpSettings(char** environment) {
  DumpSettings settings;
  if (environment == nullptr) return settings;
  constexpr uint64_t kMostSeconds = uint64_t{1} << 32;
  const DumpReader reader(environment, &settings.ignored);
  reader.Flag("HEAPGAUGE_DUMP_EXIT", &settings.at_exit);
  reader.Number("HEAPGAUGE_DUMP_ALLOCATED", 0, uint64_t{1} << 62, &settings.allocated);
  reader.Number("HEAPGAUGE_DUMP_GROWTH", 0, uint64_t{1} << 62, &settings.growth);
  reader.Number("HEAPGAUGE_DUMP_SECONDS", 0, kMostSeconds, &settings.seconds);
  reader.Number("HEAPGAUGE_DUMP_LIMIT", 0, 99, &settings.limit_percent);
  reader.Number("HEAPGAUGE_DUMP_KEEP", 0, DumpSettings::kMaxKeep, &settings.keep);
  reader.Flag("HEAPGAUGE_VERBOSE", &settings.verbose);
  settings.directory = EnvironmentValue(environment, "HEAPGAUGE_DUMP_DIR");
  settings.prefix = EnvironmentValue(environment, "HEAPGAUGE_DUMP_PREFIX");
  return settings;
}

Settings ReadSettings(char** environment, bool active_by_default) {
  Settings settings;
  settings.active = active_by_default;
  if (environment == nullptr) return settings;
  environment = WithSettingsFile(environment);
  ReadFlag(EnvironmentValue(environment, "HEAPGAUGE_ACTIVE"), &settings.active);
  ReadFlag(EnvironmentValue(environment, "HEAPGAUGE_FOLLOW_EXEC"), &settings.follow_exec);
  settings.record_mappings = GperftoolsWantsMappings(environment);
  ReadFlag(EnvironmentValue(environment, "HEAPGAUGE_MMAP"), &settings.record_mappings);
  ReadFlag(EnvironmentValue(environment, "HEAPGAUGE_INSECURE"), &settings.insecure);
  uint64_t number;
  if (ParseSize(EnvironmentValue(environment, "HEAPGAUGE_SAMPLE"), &number))
    settings.interval = number;
  if (ParseSize(EnvironmentValue(environment, "HEAPGAUGE_SEED"), &number)) settings.seed = number;
  if (ParseSize(EnvironmentValue(environment, "HEAPGAUGE_MAX_RATE"), &number) &&
      number <= UINT32_MAX) {
    settings.max_samples_per_second = static_cast<uint32_t>(number);
  }
  if (ParseSize(EnvironmentValue(environment, "HEAPGAUGE_OUT_PID"), &number) &&
      number <= UINT32_MAX) {
    settings.out_pid = static_cast<uint32_t>(number);
  }
  settings.out_file = EnvironmentValue(environment, "HEAPGAUGE_OUT");
  settings.directory = EnvironmentValue(environment, "HEAPGAUGE_DIR");
  settings.runtime_directory = EnvironmentValue(environment, "XDG_RUNTIME_DIR");
  settings.http = EnvironmentValue(environment, "HEAPGAUGE_HTTP");
  settings.token_file = EnvironmentValue(environment, "HEAPGAUGE_TOKEN_FILE");
  settings.library_directory = EnvironmentValue(environment, "HEAPGAUGE_LIBDIR");
  settings.dump = ReadDumpSettings(environment);
  settings.trace = ReadTraceSettings(environment);
  return settings;
}

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
