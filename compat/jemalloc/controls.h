// What stands behind each name of mallctl: reading, writing, and their errors as jemalloc has them.
//
// Threads: any.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "compat/jemalloc/control_table.h"

namespace heapgauge::compat {

// The arguments of mallctl behind the name. The functions return 0 or an errno.
struct ControlCall {
  void* old_value = nullptr;
  size_t* old_size = nullptr;
  void* new_value = nullptr;
  size_t new_size = 0;
};

struct MallctlControl {
  std::string_view name;
  int (*call)(const ControlCall& call);
};

// In a fixed order.
const std::vector<MallctlControl>& Controls();
const ControlTable& Names();

}  // namespace heapgauge::compat
