#include "agent/trace/trace_settings.h"

#include <cstring>

#include "agent/sys/environment.h"

namespace heapgauge::agent {
namespace {

bool IsSet(char** environment, const char* name) {
  return strcmp(EnvironmentValue(environment, name), "1") == 0;
}

}  // namespace

TraceSettings ReadTraceSettings(char** environment) {
  TraceSettings settings;
  settings.on = IsSet(environment, "HEAPGAUGE_TRACE");
  settings.drops = IsSet(environment, "HEAPGAUGE_TRACE_DROP");
  settings.follows_fork = IsSet(environment, "HEAPGAUGE_TRACE_FORK");
  settings.checks_leaks = IsSet(environment, "HEAPGAUGE_LEAKS");
  settings.frees_libraries =
      strcmp(EnvironmentValue(environment, "HEAPGAUGE_LEAKS_FREERES"), "0") != 0;
  const char* clock = EnvironmentValue(environment, "HEAPGAUGE_TRACE_CLOCK");
  if (strcmp(clock, "tsc") == 0) settings.clock = wire::TraceClock::kCycleCounter;
  uint64_t bytes;
  if (ParseSize(EnvironmentValue(environment, "HEAPGAUGE_TRACE_BUFFER"), &bytes)) {
    settings.buffer_bytes = bytes;
  }
  return settings;
}

}  // namespace heapgauge::agent
