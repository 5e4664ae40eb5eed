// Machine code as text, by objdump.
//
// PPROF_TOOLS may say where it is, as for pprof: a list, separated by commas, of directories and of
// "objdump:PATH". Otherwise it is the one in $PATH.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace heapgauge {

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
