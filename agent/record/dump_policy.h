// When to dump: from settings, totals, time and memory figures to a reason, or none.
//
// Near a limit. Levels are shares of the limit: the one that was asked for, then half, three
// quarters and nine tenths of the way from there to the top (80 %: 80, 90, 95, 98). Each is
// dumped once, so that the last dump is close to the death. When usage falls 5 points below the
// first level all are armed again, at most once a second. A large block counts towards cgroup and
// machine before it is touched: untouched memory is what large blocks have grown by beyond what
// usage has (which small ones account for first), since both were last in step or for a second. If
// that would go past the last level, a dump is due at once, because the next thing the program does
// may be its last. The next such one is due when live memory has grown by another 2 % of the limit,
// or after ten seconds. The same goes for a request that was refused, and for one that is about to
// be made and would not fit.
//
// How often memory is looked at. A look costs some system calls, so it is due only when live memory
// has grown by a quarter of the room that was left last time (at least 1/256 of the limit, at
// most 16 MiB, since a limit may be set at any time), or when time has passed: 20 ms with less than
// a fifth of the limit left, 200 ms with more. Never twice within 2 ms, unless live memory has
// grown by half the room.
//
// Times are nanoseconds of any steady clock. MayBeDue is lock-free; all else is for one thread at a
// time. Pure: no system calls, no clock. Zeroed memory, until Start: ask nothing of it.
#pragma once

#include <atomic>
#include <cstdint>

#include "agent/record/settings.h"
#include "wire/gauge_format.h"

namespace heapgauge::agent {

// Usage and limit of what can run out; a limit of 0 is none.
struct MemoryUse {
  uint64_t used = 0;
  uint64_t limit = 0;
};
struct MemoryFigures {
  MemoryUse address_space;  // counts when it is mapped
  MemoryUse cgroup;         // these count when memory is touched
  MemoryUse machine;        // resident memory of the process
};

struct DumpFigures {
  uint64_t now_ns = 0;
  uint64_t allocated_bytes = 0;  // since the start
  uint64_t live_bytes = 0;
  uint64_t large_bytes = 0;  // of these, in blocks of kLargeBytes or more

  uint64_t small_bytes() const { return live_bytes > large_bytes ? live_bytes - large_bytes : 0; }
};
// Smaller blocks are touched as soon as they are had.
inline constexpr uint64_t kLargeBytes = 256 * 1024;

class DumpPolicy {
 public:
  void Start(const DumpSettings& settings, const DumpFigures& figures);
  // In a forked child: as if it had just started, with what is live.
  void StartAnew(const DumpFigures& figures);

  // Cheap, and may be wrong in one direction: if false, nothing is due.
  bool MayBeDue(const DumpFigures& f) const {
    return f.allocated_bytes >= next_allocated_.load(std::memory_order_relaxed) ||
           f.live_bytes >= next_live_.load(std::memory_order_relaxed) ||
           f.now_ns >= next_ns_.load(std::memory_order_relaxed);
  }

  // Near a limit, and growing so fast that a dump that another thread is making is worth waiting
  // for.
  bool Urgent(const DumpFigures& f) const {
    return f.live_bytes >= urgent_live_.load(std::memory_order_relaxed);
  }

  // Should memory be looked at now? The answer goes to Decide.
  bool WantsMemory(const DumpFigures& f) const;
  // What to dump for, if anything. Then the moment counts as dumped, whether that succeeds or not:
  // a full disk is not tried again at every sample. `memory` is nullptr if it was not looked at.
  // `request`: so many bytes were refused, or are about to be asked for.
  wire::DumpReason Decide(const DumpFigures& f, const MemoryFigures* memory, uint64_t request = 0);

  // What was left of any limit when memory was last looked at.
  uint64_t room() const { return room_.load(std::memory_order_relaxed); }
  // After a reset of the counters: what is live counts from nothing again.
  void ForgetLive();

  static constexpr uint32_t kLevels = 4;
  // The share of the limit, in thousandths, at which level 0 to kLevels - 1 is reached.
  static uint32_t LevelPermille(uint32_t percent, uint32_t level);

 private:
  static constexpr uint64_t kNever = UINT64_MAX;

  bool NearLimit(const DumpFigures& f, const MemoryFigures& memory, uint64_t request);
  uint64_t Untouched(const DumpFigures& f, uint64_t used);
  void PlanNextLook(const DumpFigures& f, uint64_t room, uint64_t limit);
  void Publish();

  // Triggers.
  uint64_t allocated_ = 0;
  uint64_t growth_ = 0;
  uint64_t period_ns_ = 0;
  uint32_t percent_ = 0;

  // What the cheap test compares with: the nearest of those below.
  std::atomic<uint64_t> next_allocated_{0};
  std::atomic<uint64_t> next_live_{0};
  std::atomic<uint64_t> next_ns_{0};
  std::atomic<uint64_t> urgent_live_{0};
  std::atomic<uint64_t> room_{0};

  uint64_t dump_allocated_ = 0;
  uint64_t dump_live_ = 0;
  uint64_t dump_ns_ = 0;
  uint64_t highest_live_ = 0;  // at any dump

  // Looks at memory.
  uint64_t look_live_ = 0;          // live memory at which the next one is due
  uint64_t look_at_once_live_ = 0;  // without regard to kLeastApartNs
  uint64_t look_ns_ = 0;
  uint64_t last_look_ns_ = 0;
  uint64_t last_look_large_ = 0;
  uint64_t last_look_small_ = 0;
  // When usage and large blocks were last in step.
  uint64_t step_ns_ = 0;
  uint64_t step_large_ = 0;
  uint64_t step_small_ = 0;
  uint64_t step_used_ = 0;
  bool in_step_ = false;

  uint32_t level_ = 0;          // the next one to dump at
  uint64_t limit_dump_ns_ = 0;  // the last one
  uint64_t foreseen_live_ = 0;  // live memory from which on the next foreseen death is dumped for
  uint64_t foreseen_ns_ = 0;    // or time
};

}  // namespace heapgauge::agent
