// Functions that a pattern names and that have samples, for listings of source and code.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/voices/perl/options.h"
#include "core/voices/perl/writers.h"

namespace heapgauge::perl {

// Machine instructions with their source lines, from the program objdump.
//
// A process is started for each call. Its output is bounded.
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

// Figures by address in memory.
struct AddressFigures {
  std::map<uint64_t, double> flat;
  std::map<uint64_t, double> cum;
  double total = 0;

  struct Pair {
    double flat = 0;
    double cum = 0;
  };
  // Sums over [begin, end).
  Pair Sum(uint64_t begin, uint64_t end) const;
};

AddressFigures CountAddresses(const ReportInput& input);

struct Routine {
  Library* library = nullptr;
  std::string name;    // short
  uint64_t start = 0;  // in the file
  uint64_t end = 0;
  // How far instructions of the last one count: the tools compare the end in the file with
  // addresses in memory.
  uint64_t Limit(const ListedInstruction& instruction) const {
    return instruction.limit == end ? end : instruction.limit + library->bias;
  }
};

// Calls `handle` for each, by library and then by short name.
Status ForEachRoutine(const ReportInput& input, const AddressFigures& figures,
                      const std::function<Status(const Routine&)>& handle);

}  // namespace heapgauge::perl
