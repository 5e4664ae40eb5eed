// A thread as it was at the instant of a picture. Plain data.
#pragma once

#include <cstdint>
#include <vector>

#include "core/leaks/scan/roots.h"

namespace heapgauge::leaks {

struct CapturedThread {
  uint32_t id = 0;              // as the kernel numbers it for us
  uint64_t stack_pointer = 0;   // 0 unknown
  uint64_t thread_pointer = 0;  // of its control block; 0 unknown
  std::vector<RootRegister> registers;
};

}  // namespace heapgauge::leaks
