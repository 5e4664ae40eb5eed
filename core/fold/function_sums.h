// Adds up the rows of a profile by function (or line, file, module, address): the loop in which
// reports on large profiles spend their time. For functions.cc alone.
//
// Large profiles are added up in parts, which several threads share. There are as many parts on
// every machine, so that sums are rounded alike everywhere.
#pragma once

#include <cstdint>
#include <vector>

#include "core/fold/groundwork.h"

namespace heapgauge {

struct FunctionSums {
  HeapFigures total;     // of all rows
  HeapFigures selected;  // of those that are
  HeapFigures unknown;   // of these, those without a stack
  // By entity.
  std::vector<HeapFigures> flat;
  std::vector<HeapFigures> cum;  // empty if not asked for
  // By frame: what it weighs when it is chosen to stand for its entity.
  std::vector<double> frame_flat;
  std::vector<double> frame_cum;  // empty if cumulative figures are not asked for
};
FunctionSums SumFunctions(const Groundwork& groundwork, const Entities& entities,
                          const std::vector<bool>& selected, bool with_cum);

// What of a profile is looked at.
struct FrameMarks {
  std::vector<uint8_t> locations;
  std::vector<uint8_t> entities;
};
// FunctionSums::frame_cum for frames that are marked.
std::vector<double> WeighFrames(const Groundwork& groundwork, const Entities& entities,
                                const std::vector<bool>& selected, const FrameMarks& marks);

}  // namespace heapgauge
