// Functions that a pattern names and that have samples, for listings of source and code.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "core/voices/perl/objdump.h"
#include "core/voices/perl/writers.h"

namespace heapgauge::perl {

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
