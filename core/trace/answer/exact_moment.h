// A moment that single blocks are asked about: was it born by then, was it freed? A block knows its
// number and its times, but not its place among the events of one nanosecond; where the moment
// lies between those, it keeps what is needed to tell.
//
// Plain data; copies share what is kept.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/result.h"
#include "core/trace/file/block.h"
#include "core/trace/file/moment.h"
#include "core/trace/file/trace_file.h"

namespace heapgauge::trace {

struct ExactMoment {
  uint64_t time_ns = 0;
  // Of a moment among events of the same time: the number of the first block that was born later,
  // and which of those that died in its nanosecond had done so by then, sorted.
  uint64_t first_unborn = UINT64_MAX;
  std::shared_ptr<const std::vector<uint64_t>> dead;

  // Reads the segments that have events of its nanosecond, if it lies among them.
  static Result<ExactMoment> Find(const TraceFile& trace, const TraceMoment& moment);

  bool HasBegun(uint64_t number, uint64_t birth_ns) const {
    return birth_ns <= time_ns && number < first_unborn;
  }
  bool HasEnded(uint64_t number, uint64_t death_ns) const {
    if (death_ns != time_ns || death_ns == kNever) return death_ns < time_ns;
    return dead == nullptr || std::binary_search(dead->begin(), dead->end(), number);
  }
  bool HasBegun(const Block& block) const { return HasBegun(block.number, block.birth_ns); }
  bool HasEnded(const Block& block) const { return HasEnded(block.number, block.death_ns); }

  friend bool operator==(const ExactMoment&, const ExactMoment&) = default;
};

}  // namespace heapgauge::trace
