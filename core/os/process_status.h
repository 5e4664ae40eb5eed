// The memory of a process in a few numbers, from files of /proc that cost nothing to read.
//
// Every path is below a directory, "/proc/PID" as a rule, so that tests can bring their own. A
// number that is not there is 0. Plain values, no threads.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "core/base/result.h"

namespace heapgauge {

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

}  // namespace heapgauge
