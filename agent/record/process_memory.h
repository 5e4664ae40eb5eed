// How much memory this process has, and how much it may have: /proc/self, its cgroup (version 1 or
// 2) and those above, RLIMIT_AS and RLIMIT_DATA, the machine.
//
// Of all cgroups above the process the one with the least room counts. Its usage is taken without
// file pages, which the kernel drops before it kills. Which one that is, and where, is found
// out anew once a second; in between a look is three short files or fewer.
//
// For one thread at a time. Allocation-free, no file is kept open. Everything read is bounded and
// may be nonsense; what cannot be known is 0. Zeroed memory is a fresh one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "agent/record/dump_policy.h"
#include "agent/sys/text.h"
#include "wire/gauge_format.h"

namespace heapgauge::agent {

class ProcessMemoryReader {
 public:
  // Another directory in place of /proc/self, for tests. Must outlive this.
  void UseProc(const char* directory) { proc_ = directory; }
  // In a forked child, which may be moved.
  void Forget() { scanned_ns_ = 0; }

  // What the policy wants to know.
  MemoryFigures Look(uint64_t now_ns);
  // All that a dump tells; fills everything but state and time.
  void Describe(uint64_t now_ns, wire::ProcessMemory* out);

 private:
  static constexpr size_t kPathBytes = 1024;

  bool FindMount();
  void FindCgroup(uint64_t now_ns);
  bool CgroupPath(char* out, size_t bytes);
  uint64_t CgroupNumber(const char* directory, const char* name);
  uint64_t FilePages();
  void LookAtCgroup(uint64_t now_ns, MemoryUse* use);
  void LookAtAddressSpace(uint64_t size_pages, uint64_t data_pages, MemoryUse* use) const;

  const char* proc_ = nullptr;
  uint64_t scanned_ns_ = 0;
  bool searched_mount_ = false;
  bool version_1_ = false;
  char mount_[kPathBytes] = {};       // of the hierarchy that accounts for memory; "" none
  char mount_root_[kPathBytes] = {};  // which of its groups is mounted there
  char group_[kPathBytes] = {};       // directory of the group with the least room; "" none
  uint64_t group_limit_ = 0;
  uint64_t machine_bytes_ = 0;
  // Not on the stack, which may be a small one.
  char directory_[kPathBytes] = {};
  FixedText<1200> path_;
  char text_[8192] = {};
};

}  // namespace heapgauge::agent
