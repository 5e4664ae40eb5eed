// What the environment and the settings file ask of the agent. Read in the agent's constructor,
// from the vector that the dynamic linker hands to constructors (libc's own may not be set yet
// then).
#ifndef HEAPGAUGE_AGENT_SYS_ENVIRONMENT_H_
#define HEAPGAUGE_AGENT_SYS_ENVIRONMENT_H_

#include <cstdint>

#include "agent/dump/dump_settings.h"
#include "agent/trace/trace_settings.h"
#include "wire/gauge_format.h"

namespace heapgauge::agent {

struct Settings {
  bool active = true;                                                   // HEAPGAUGE_ACTIVE
  uint64_t interval = wire::kDefaultIntervalBytes;                      // HEAPGAUGE_SAMPLE
  uint32_t max_samples_per_second = wire::kDefaultMaxSamplesPerSecond;  // HEAPGAUGE_MAX_RATE
  bool follow_exec = true;                                              // HEAPGAUGE_FOLLOW_EXEC
  bool record_mappings = false;                                         // HEAPGAUGE_MMAP
  uint64_t seed = 0;                                                    // HEAPGAUGE_SEED; 0: random
  bool insecure = false;  // HEAPGAUGE_INSECURE: serve others without a token
  // Point into the environment or the settings file, or are empty.
  const char* directory = "";          // HEAPGAUGE_DIR
  const char* runtime_directory = "";  // XDG_RUNTIME_DIR
  const char* out_file = "";           // HEAPGAUGE_OUT: the file itself, for process out_pid
  uint32_t out_pid = 0;                // HEAPGAUGE_OUT_PID
  const char* http = "";               // HEAPGAUGE_HTTP: address of the debug port
  const char* token_file = "";         // HEAPGAUGE_TOKEN_FILE
  const char* library_directory = "";  // HEAPGAUGE_LIBDIR: where the service library lies
  DumpSettings dump;
  TraceSettings trace;
};

// Those of the environment, then of the settings file (settings_file.h), then the defaults. A value
// that cannot be understood leaves the default in force. Where nobody says whether to be active,
// `active_by_default` decides (came_by_preload.h). Not thread-safe.
Settings ReadSettings(char** environment, bool active_by_default = true);

// The value of a variable, in the environment; "" if it is not set.
const char* EnvironmentValue(char** environment, const char* name);

// Takes the agent out of LD_PRELOAD and removes HEAPGAUGE_* in place, so that programs which this
// one executes run without it.
void RemoveFromEnvironment(char** environment);

// "524288", "512K", "512KiB", "1M", "2G": false if it is none of these or overflows.
bool ParseSize(const char* text, uint64_t* size);

}  // namespace heapgauge::agent

#endif  // HEAPGAUGE_AGENT_SYS_ENVIRONMENT_H_
