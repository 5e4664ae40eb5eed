// The gauge files that a process has in its memory, wherever they are: what /proc/PID/maps tells of
// one that was named by `run -o` or lies in a directory nobody else knows, and of a program in a
// container.
//
// Reads /proc and headers; every answer was true when it was read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/gauge/owner_process.h"

namespace heapgauge {

// True for NAME.hg and NAME.hg.N, as later programs of one process are called.
bool IsGaugeFileName(std::string_view name);

struct GaugeInMemory {
  std::string path;  // to open it by, through /proc/PID/root where needed
  std::string path_inside;
  std::string root;  // what was put before the latter: "" or "/proc/PID/root"
  bool deleted = false;
  bool outside = false;  // of the directory that the process is locked in (chroot)
};

// What to put before the paths of a process: "", or "/proc/PID/root" if it sees other files than
// this one and that may be read.
std::string RootOf(uint32_t pid);

// The gauge file that /proc/PID/maps calls `path`; nothing if it is none.
std::optional<GaugeInMemory> GaugeInMemoryAt(uint32_t pid, const std::string& root,
                                             const std::string& path);

// All that the process maps as shared memory; none if its mappings may not be read.
std::vector<GaugeInMemory> GaugesInMemoryOf(uint32_t pid);

// Whose they are. A forked process has its parent's until it makes its own.
struct OwnGauge {
  std::optional<GaugeInMemory> own;  // the newest one
  std::optional<GaugeOwner> parent;
};
OwnGauge OwnAmong(const std::vector<GaugeInMemory>& gauges, uint32_t pid);

// The path of the process's own gauge file, by the name that it has here if there is one. "" if it
// maps none that can be opened.
std::string OwnGaugePath(uint32_t pid);

}  // namespace heapgauge
