// Machine code as text, by objdump.
//
// PPROF_TOOLS may say where it is, as for pprof: a list, separated by commas, of directories and of
// "objdump:PATH". Otherwise it is the one in $PATH.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace heapgauge {

// Runs a program and gives back what it prints. For tools that are on many machines but not on all,
// such as objdump: the caller must do without where there is none.
//
// Bounded: the tool is killed when it prints too much or takes too long.

struct ToolLimits {
  size_t bytes = size_t{256} << 20;
  uint64_t seconds = 120;
};

// Standard output of `arguments`, the first of which is a path or is looked for in $PATH. Standard
// input is empty, standard error is not shown. kNotFound if there is no such program; any other
// failure, also an exit status that is not 0, is kIo.
Result<std::string> RunTool(const std::vector<std::string>& arguments,
                            const ToolLimits& limits = {});

struct Instruction {
  uint64_t address = 0;  // in the ELF file
  std::string text;
  std::string function;  // "" unknown
  std::string file;      // "" unknown
  int64_t line = 0;      // 0 unknown
};

// The code from `start` up to and with the byte at `last`. The error says what to install where
// there is no objdump.
Result<std::vector<Instruction>> Disassemble(const std::string& file, uint64_t start, uint64_t last,
                                             bool intel_syntax);

// What objdump printed. Lines of no known form are left out. For tests.
std::vector<Instruction> ParseObjdump(std::string_view output);

}  // namespace heapgauge
