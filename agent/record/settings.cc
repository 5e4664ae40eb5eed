#include "agent/record/settings.h"

#include <cstring>

#include "agent/record/settings_file.h"
#include "agent/sys/environment.h"

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

}  // namespace heapgauge::agent
