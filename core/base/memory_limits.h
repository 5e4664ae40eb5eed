// How much memory another process has and how much it may have, cheap enough to ask many times a
// second: resident memory, address space and RLIMIT_AS, its memory cgroup (version 1 or 2).
//
// Of the process's cgroup and those above it, the one with the least room counts, its usage without
// file pages. Everything is 0 where it is unknown or there is no limit.
#ifndef HEAPGAUGE_CORE_BASE_MEMORY_LIMITS_H_
#define HEAPGAUGE_CORE_BASE_MEMORY_LIMITS_H_

#include <cstdint>
#include <optional>

namespace heapgauge {

struct MemoryLimits {
  uint64_t resident_bytes = 0;
  uint64_t machine_bytes = 0;
  uint64_t cgroup_bytes = 0;
  uint64_t cgroup_limit = 0;
  uint64_t address_space_bytes = 0;
  uint64_t address_space_limit = 0;

  // The largest share of any limit that is in use; the machine's counts where there is no cgroup's.
  double Share() const;
};

// Nothing if the process is gone.
std::optional<MemoryLimits> ReadMemoryLimits(uint32_t pid);

}  // namespace heapgauge

#endif  // HEAPGAUGE_CORE_BASE_MEMORY_LIMITS_H_
