// A moment of a trace, as a place in the order of its events.
//
// A time means: after all that happened at or before it. The start and the peak are more exact:
// the start is before everything, also of its own nanosecond, and the peak is after the one event
// that made it so, while others of the same time may follow.
//
// What happened between two moments is what happened after the first, up to and including the
// second. So ranges that adjoin each other add up, and what a range added is what is live at its
// end less what is live at its beginning.
//
// Plain data.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>

#include "core/trace/file/block.h"

namespace heapgauge::trace {

struct TraceMoment {
  static constexpr uint64_t kAllOfItsTime = UINT64_MAX;

  uint64_t time_ns = 0;
  // How many events of the trace come before it; kAllOfItsTime: those at or before the time.
  uint64_t events = 0;

  static TraceMoment Start() { return {}; }
  static TraceMoment At(uint64_t time_ns) { return {time_ns, kAllOfItsTime}; }
  static TraceMoment End() { return At(kNever); }

  bool is_start() const { return events == 0; }
  bool is_end() const { return time_ns == kNever; }
  // The time alone does not tell where it is.
  bool is_among_events() const { return events != kAllOfItsTime; }

  friend auto operator<=>(const TraceMoment&, const TraceMoment&) = default;
};

struct TraceRange {
  TraceMoment from;
  TraceMoment to = TraceMoment::End();

  bool is_whole() const { return from.is_start() && to.is_end(); }

  friend bool operator==(const TraceRange&, const TraceRange&) = default;
};

// Which blocks count: mappings, heap blocks, or both; as BlockFilter::mappings.
using Mappings = std::optional<bool>;

inline bool CountsIn(const Block& block, Mappings mappings) {
  return !mappings || *mappings == block.is_mapping;
}

// "850ns", "12.34ms", "12.345s", "3m05.2s", "2h14m07s": ParseMoment reads it again.
std::string FormatMoment(uint64_t ns);
// The same of a moment; "the start", "the peak (12.34ms)" where the time alone does not tell.
std::string FormatMoment(const TraceMoment& moment);

}  // namespace heapgauge::trace
