// Where gauge files are: in directories of this host, and in the memory of processes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/gauge/owner_process.h"

namespace heapgauge {

// The gauge files that a process has in its memory, wherever they are: what /proc/PID/maps tells of
// one that was named by `run -o` or lies in a directory nobody else knows, and of a program in a
// container.
//
// Reads /proc and headers; every answer was true when it was read.

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

// Where gauge files are on this host, and which belong to a process.
//
// The directories are those the agent chooses from: $HEAPGAUGE_DIR, else
// $XDG_RUNTIME_DIR/heapgauge, else /dev/shm/heapgauge-<uid>, else /tmp/heapgauge-<uid>. A reader
// looks into all of them, as root into those of all users. Reads directories and headers only.

// Existing directories that may hold gauge files, in the order in which the agent prefers them.
std::vector<std::string> GaugeDirectories();

// Paths of the gauge files of a directory, sorted by name. Fails if it cannot be listed.
Result<std::vector<std::string>> ListGaugeFiles(const std::string& directory);

// True if the owner's process executed another program: it has made a newer file in the same
// directory, or runs on and maps no gauge file any more, because the agent is not in that program.
bool WasReplaced(const GaugeOwner& owner);

// The gauge file of a process: the one that it has mapped, wherever that is; else, in the
// directories above, that of the running one if there is one, or the newest of that pid. Dumps are
// not considered. The error says whether the process exists and what to do.
Result<std::string> FindGaugeOf(uint32_t pid);

}  // namespace heapgauge
