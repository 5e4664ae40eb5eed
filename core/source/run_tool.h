// Runs a program and gives back what it prints. For tools that are on many machines but not on all,
// such as objdump: the caller must do without where there is none.
//
// Bounded: the tool is killed when it prints too much or takes too long.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace heapgauge {

struct ToolLimits {
  size_t bytes = size_t{256} << 20;
  uint64_t seconds = 120;
};

// Standard output of `arguments`, the first of which is a path or is looked for in $PATH. Standard
// input is empty, standard error is not shown. kNotFound if there is no such program; any other
// failure, also an exit status that is not 0, is kIo.
Result<std::string> RunTool(const std::vector<std::string>& arguments,
                            const ToolLimits& limits = {});

}  // namespace heapgauge
