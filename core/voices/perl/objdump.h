// Machine instructions with their source lines, from the program objdump.
//
// A process is started for each call. Its output is bounded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/voices/perl/options.h"

namespace heapgauge::perl {

struct ListedInstruction {
  uint64_t address = 0;  // in the file
  uint64_t limit = 0;    // where the next one begins
  std::string file;      // as of the last line that named one
  int64_t line = -1;
  std::string text;
};

// The instructions in [start, end) of a file. --tools says which objdump.
Result<std::vector<ListedInstruction>> Disassemble(const std::string& path, uint64_t start,
                                                   uint64_t end, const Options& options);

// The path of a tool of the binutils by --tools: a prefix, or NAME:PATH, separated by commas.
std::string ToolPath(const std::string& name, const Options& options);

}  // namespace heapgauge::perl
