#include "agent/dump/dump_settings.h"

#include <cstring>

#include "agent/sys/environment.h"

namespace heapgauge::agent {
namespace {

// Reads settings one after the other and remembers the first that makes no sense.
class Reader {
 public:
  Reader(char** environment, const char** ignored) : environment_(environment), ignored_(ignored) {}

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
  const Reader reader(environment, &settings.ignored);
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

}  // namespace heapgauge::agent
