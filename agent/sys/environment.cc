#include "agent/sys/environment.h"

#include <cstring>

#include "agent/sys/settings_file.h"

namespace heapgauge::agent {
namespace {

// The value of `NAME=value` if the entry has this name, else nullptr.
const char* ValueOf(const char* entry, const char* name) {
  const size_t length = strlen(name);
  return strncmp(entry, name, length) == 0 && entry[length] == '=' ? entry + length + 1 : nullptr;
}

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

// Removes the components of an LD_PRELOAD list that name this library; returns what is left.
char* RemoveAgentFromList(char* list) {
  char* out = list;
  char* in = list;
  while (*in != '\0') {
    char* end = in;
    while (*end != '\0' && *end != ':' && *end != ' ') ++end;
    const size_t length = static_cast<size_t>(end - in);
    const bool ours = memmem(in, length, "libheapgauge.so", 15) != nullptr;
    if (!ours && length > 0) {
      if (out != list) *out++ = ':';
      memmove(out, in, length);
      out += length;
    }
    in = *end == '\0' ? end : end + 1;
  }
  *out = '\0';
  return list;
}

}  // namespace

const char* EnvironmentValue(char** environment, const char* name) {
  for (char** entry = environment; *entry != nullptr; ++entry) {
    if (const char* value = ValueOf(*entry, name)) return value;
  }
  return "";
}

bool ParseSize(const char* text, uint64_t* size) {
  if (*text < '0' || *text > '9') return false;
  uint64_t value = 0;
  for (; *text >= '0' && *text <= '9'; ++text) {
    if (value > (UINT64_MAX - 9) / 10) return false;
    value = value * 10 + static_cast<uint64_t>(*text - '0');
  }
  unsigned shift = 0;
  switch (*text) {
    case 'k':
    case 'K':
      shift = 10;
      break;
    case 'm':
    case 'M':
      shift = 20;
      break;
    case 'g':
    case 'G':
      shift = 30;
      break;
    case 't':
    case 'T':
      shift = 40;
      break;
    default:
      break;
  }
  if (shift != 0) {
    ++text;
    if (text[0] == 'i' && text[1] == 'B')
      text += 2;
    else if (text[0] == 'B')
      ++text;
  } else if (*text == 'B') {
    ++text;
  }
  if (*text != '\0' || value > UINT64_MAX >> shift) return false;
  *size = value << shift;
  return true;
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

void RemoveFromEnvironment(char** environment) {
  if (environment == nullptr) return;
  char** kept = environment;
  for (char** entry = environment; *entry != nullptr; ++entry) {
    if (strncmp(*entry, "HEAPGAUGE_", 10) == 0) continue;
    if (const char* preload = ValueOf(*entry, "LD_PRELOAD")) {
      if (*RemoveAgentFromList(const_cast<char*>(preload)) == '\0') continue;
    }
    *kept++ = *entry;
  }
  *kept = nullptr;
}

}  // namespace heapgauge::agent
