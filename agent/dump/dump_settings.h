// What the environment asks for in the way of dumps: HEAPGAUGE_DUMP_* and HEAPGAUGE_VERBOSE.
//
// Plain data, read once at the start. The texts point into the environment; Dumper copies them.
#ifndef HEAPGAUGE_AGENT_DUMP_DUMP_SETTINGS_H_
#define HEAPGAUGE_AGENT_DUMP_DUMP_SETTINGS_H_

#include <cstdint>

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

// A value that cannot be understood leaves the default in force and is named in `ignored`.
DumpSettings ReadDumpSettings(char** environment);

}  // namespace heapgauge::agent

#endif  // HEAPGAUGE_AGENT_DUMP_DUMP_SETTINGS_H_
