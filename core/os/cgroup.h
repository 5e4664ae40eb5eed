// The memory cgroup that a process is charged to: usage, the limit that will be met first, swap,
// pressure. Version 2 and version 1.
//
// A process is bound by the limits of all groups above its own. Reported is the one with the least
// room left, which is where the OOM killer will come from. Groups above the mount that we can see
// (a container's) stay unknown.
//
// Reads files below `root` ("" for the real ones), so that tests can bring their own. Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace heapgauge {

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

}  // namespace heapgauge
