// Allocations that cannot be yet, because there still is a block at their address. A processor may
// read the clock for an allocation before it knows what another thread has done
// (wire/trace_buffer.h), so that it seems to be earlier than the free which made room for it. It
// waits here for that free, which comes soon; if none comes, that free was missed.
//
// One thread, bounded memory. There are none but for threads that hand memory over within less than
// a microsecond, and for programs whose calls were not all seen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/trace/record/merged_event.h"

namespace heapgauge::trace {

class EarlyBirths {
 public:
  // How early one can be: several times what a processor may do ahead.
  static constexpr uint64_t kMostEarlyNs = 10'000;
  static constexpr size_t kMost = 32;

  bool empty() const { return births_.empty(); }
  // The one that it takes the place of, if there are too many: that one waits no more.
  std::optional<MergedEvent> Add(const MergedEvent& birth);
  // The first one at this address.
  std::optional<MergedEvent> TakeAt(uint64_t address);
  // The first one that the same thread made at the address of this event, before it.
  std::optional<MergedEvent> TakeOwn(const MergedEvent& event);
  // The first one that has waited for too long at this time.
  std::optional<MergedEvent> TakeExpired(uint64_t now_ns);

 private:
  template <typename Wanted>
  std::optional<MergedEvent> TakeFirst(const Wanted& wanted);

  std::vector<MergedEvent> births_;  // in order of time
};

}  // namespace heapgauge::trace
