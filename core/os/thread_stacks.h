// Which mappings are stacks of threads.
//
// The main thread's is called [stack]. For the others the kernel tells the stack pointer of every
// thread that waits in a system call (/proc/PID/task/TID/syscall, to those who may trace the
// process). Threads that are running just then, and where that file may not be read, are found by
// the shape that thread libraries give to stacks: writable anonymous memory right above a small
// guard without any rights. The second way also finds stacks of ended threads, which the C library
// keeps for the next ones. Stacks without a guard are found by the first way alone.
//
// Pure but for ReadStackPointers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/os/smaps.h"

namespace heapgauge {

struct StackPointers {
  std::vector<uint64_t> pointers;
  uint32_t threads = 0;  // looked at; at most kMaxThreads
  bool permitted = false;
  static constexpr uint32_t kMaxThreads = 100'000;
};

// From `directory`/task, `directory` being "/proc/PID" as a rule.
StackPointers ReadStackPointers(const std::string& directory);

// The stack pointer in a line of /proc/PID/syscall; 0 if it has none.
uint64_t StackPointerIn(const std::string& line);

struct StackMappings {
  std::vector<bool> is_stack;  // for each mapping; [stack] is one
  uint32_t by_pointer = 0;
  uint32_t by_shape = 0;
};
StackMappings FindStacks(const std::vector<MappingUsage>& mappings, const StackPointers& pointers);

}  // namespace heapgauge
