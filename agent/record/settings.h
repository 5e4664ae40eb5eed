// What the environment and the settings file ask of the agent. Plain data, read once, in the
// agent's constructor. The texts point into the environment or the settings file: who needs them
// later copies them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "agent/trace/trace_settings.h"
#include "wire/gauge_format.h"

namespace heapgauge::agent {

struct DumpSettings {
  static constexpr uint32_t kDefaultKeep = 32;
  static constexpr uint32_t kMaxKeep = 1024;

  bool at_exit = false;          // HEAPGAUGE_DUMP_EXIT
  uint64_t allocated = 0;        // HEAPGAUGE_DUMP_ALLOCATED: every so many bytes; 0 never
  uint64_t growth = 0;           // HEAPGAUGE_DUMP_GROWTH: whenever live memory rose by so much
  uint64_t seconds = 0;          // HEAPGAUGE_DUMP_SECONDS
  uint32_t limit_percent = 0;    // HEAPGAUGE_DUMP_LIMIT: 1 to 99
  uint32_t keep = kDefaultKeep;  // HEAPGAUGE_DUMP_KEEP: 0 for all of them
  bool verbose = false;          // HEAPGAUGE_VERBOSE
  const char* directory = "";    // HEAPGAUGE_DUMP_DIR
  const char* prefix = "";       // HEAPGAUGE_DUMP_PREFIX: names are <prefix>.0001.hg then

  // The first setting that could not be understood, as it is in the environment; "" none.
  const char* ignored = "";

  bool any() const {
    return at_exit || allocated != 0 || growth != 0 || seconds != 0 || limit_percent != 0;
  }
};

struct Settings {
  bool active = true;                                                   // HEAPGAUGE_ACTIVE
  uint64_t interval = wire::kDefaultIntervalBytes;                      // HEAPGAUGE_SAMPLE
  uint32_t max_samples_per_second = wire::kDefaultMaxSamplesPerSecond;  // HEAPGAUGE_MAX_RATE
  bool follow_exec = true;                                              // HEAPGAUGE_FOLLOW_EXEC
  bool record_mappings = false;                                         // HEAPGAUGE_MMAP
  uint64_t seed = 0;                                                    // HEAPGAUGE_SEED; 0: random
  bool insecure = false;               // HEAPGAUGE_INSECURE: serve others without a token
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

// Those of the environment, then of the settings file (WithSettingsFile), then the defaults. A
// value that cannot be understood leaves the default in force. If no setting says whether to be
// active, `active_by_default` decides. Not thread-safe.
Settings ReadSettings(char** environment, bool active_by_default = true);

// A value that cannot be understood leaves the default in force and is named in `ignored`.
DumpSettings ReadDumpSettings(char** environment);

// The settings of the environment followed by those of the settings file; `environment` itself if
// there is no file. Stays valid until the next call. By one thread, before the program starts.
//
// The file is $HEAPGAUGE_CONFIG, else /etc/heapgauge.conf. Lines of `key = value`; keys are the
// names of the environment's variables in lower case, without HEAPGAUGE_:
//
//   # comment
//   sample = 512K
//   http = 127.0.0.1:9700
//
// Its lines become entries of the kind that an environment has. These are put behind the real ones,
// so the environment wins and no other part has to know about files. Lines that make no sense are
// passed over. The file must belong to root or to the user of the process, and not be
// writable by everybody; otherwise, and in programs with elevated rights, there is none.
// HEAPGAUGE_CONFIG set to nothing means no file.
//
// Reads without libc or heap, at most 16 KiB and 64 settings.
char** WithSettingsFile(char** environment);

// Turns the text of a file into entries "HEAPGAUGE_KEY=value", ended by nullptr, in `bytes` of
// memory at `out`; returns how many. `entries` has room for `most` and the nullptr.
size_t ParseSettings(const char* text, char* out, size_t bytes, char** entries, size_t most);

}  // namespace heapgauge::agent
