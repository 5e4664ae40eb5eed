// The memory of another process in a few numbers: what it has, and what its cgroup lets it have.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "core/base/result.h"
#include "wire/gauge_format.h"

namespace heapgauge {

// The memory of a process in a few numbers, from files of /proc that cost nothing to read.
//
// Every path is below a directory, "/proc/PID" as a rule, so that tests can bring their own. A
// number that is not there is 0. Plain values, no threads.
struct ProcessStatus {
  uint64_t resident = 0;
  uint64_t peak_resident = 0;
  uint64_t anonymous = 0;
  uint64_t file = 0;
  uint64_t shared = 0;
  uint64_t swapped = 0;
  uint64_t page_tables = 0;  // not part of the resident memory, but charged to the cgroup
  uint64_t address_space = 0;
  uint64_t address_space_limit = 0;  // 0: none
  uint64_t stack_limit = 0;          // 0: none
  uint32_t threads = 0;
};

// From `directory`/status and `directory`/limits. Fails if there is no such process.
Result<ProcessStatus> ReadProcessStatus(const std::string& directory);

// The devices (major, minor) of file systems that live in memory, from `directory`/mountinfo.
std::set<std::pair<uint32_t, uint32_t>> MemoryFileSystems(const std::string& directory);

// What the machine has left: MemAvailable, SwapFree and SwapTotal of /proc/meminfo.
struct HostMemory {
  uint64_t total = 0;
  uint64_t available = 0;
  uint64_t swap_total = 0;
  uint64_t swap_free = 0;
};
HostMemory ReadHostMemory(const std::string& path = "/proc/meminfo");

// The memory cgroup that a process is charged to: usage, the limit that will be met first, swap,
// pressure. Version 2 and version 1.
//
// A process is bound by the limits of all groups above its own. Reported is the one with the least
// room left, which is where the OOM killer will come from. Groups above the mount that we can see
// (a container's) stay unknown.
//
// Reads files below `root` ("" for the real ones), so that tests can bring their own. Plain values.
struct CgroupMemory {
  int version = 0;
  std::string path;          // of the process's own group, as /proc/PID/cgroup has it
  uint64_t usage = 0;        // of that group, or of the one that has the limit
  std::string limited_path;  // the group with the limit; "" if none of them has one
  uint64_t limit = 0;        // 0: none
  uint64_t high = 0;         // where the kernel begins to throttle (version 2); 0: none
  uint64_t swap = 0;
  uint64_t file_pages = 0;    // in that group: the kernel drops them before it kills
  uint64_t reclaimable = 0;   // of these, those that nobody has used lately
  double pressure_some = -1;  // percent of the last 10 s in which something waited for memory
  double pressure_full = -1;  // ... in which everything did; -1: unknown
  uint64_t oom_kills = 0;

  bool has_limit() const { return limit != 0; }
  // Usage that cannot be dropped.
  uint64_t held() const { return usage > file_pages ? usage - file_pages : 0; }
  uint64_t room() const { return limit > usage ? limit - usage : 0; }
  // Room, and what would be dropped to make it.
  uint64_t available() const { return limit > held() ? limit - held() : 0; }
};

// Nothing if no memory cgroup can be seen.
std::optional<CgroupMemory> ReadCgroupMemory(uint32_t pid, const std::string& root = "");

// The memory of another process, and how much it may have, in the form that gauge files keep it.
// Cheap enough to ask many times a second.
//
// Nothing if the process is gone. State and time are for the caller to fill in.
std::optional<wire::ProcessMemory> ReadProcessMemory(uint32_t pid);

// The largest share of any limit that is in use; the machine's memory is the limit where there is
// no cgroup's.
double ShareOfLimit(const wire::ProcessMemory& memory, uint64_t machine_bytes);

}  // namespace heapgauge
