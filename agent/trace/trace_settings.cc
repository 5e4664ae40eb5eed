#include "agent/trace/trace_settings.h"

#include <errno.h>

#include <cstring>

#include "agent/sys/environment.h"
#include "agent/sys/os.h"

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
  const char* freeing = EnvironmentValue(environment, "HEAPGAUGE_LEAKS_FREERES");
  if (strcmp(freeing, "never") == 0) settings.freeing = TraceSettings::Freeing::kNever;
  if (strcmp(freeing, "always") == 0) settings.freeing = TraceSettings::Freeing::kAlways;
  const char* clock = EnvironmentValue(environment, "HEAPGAUGE_TRACE_CLOCK");
  if (strcmp(clock, "tsc") == 0) settings.clock = wire::TraceClock::kCycleCounter;
  uint64_t bytes;
  if (ParseSize(EnvironmentValue(environment, "HEAPGAUGE_TRACE_BUFFER"), &bytes)) {
    settings.buffer_bytes = bytes;
  }
  uint64_t recorder;
  if (ParseSize(EnvironmentValue(environment, "HEAPGAUGE_TRACE_RECORDER"), &recorder) &&
      recorder <= UINT32_MAX) {
    settings.recorder_pid = static_cast<uint32_t>(recorder);
  }
  uint64_t space;
  if (ParseSize(EnvironmentValue(environment, "HEAPGAUGE_TRACE_NAMESPACE"), &space)) {
    settings.recorder_namespace = space;
  }
  return settings;
}

bool IsRecorderGone(const TraceSettings& settings) {
  if (settings.recorder_pid == 0 || settings.recorder_namespace == 0) return false;
  if (os::PidNamespace() != settings.recorder_namespace) return false;
  // Not by /proc, which may not show the processes of others.
  return Syscall(SYS_kill, settings.recorder_pid, 0) == -ESRCH;
}

}  // namespace heapgauge::agent
