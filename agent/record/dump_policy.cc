#include "agent/record/dump_policy.h"

#include <algorithm>

namespace heapgauge::agent {
namespace {

using wire::DumpReason;

constexpr uint64_t kMs = 1'000'000;
constexpr uint64_t kLeastApartNs = 2 * kMs;
constexpr uint64_t kNearLookNs = 20 * kMs;
constexpr uint64_t kFarLookNs = 200 * kMs;
constexpr uint64_t kStepNs = 1000 * kMs;
constexpr uint64_t kRearmNs = 1000 * kMs;
constexpr uint64_t kRearmPermille = 50;
constexpr uint64_t kForeseenAgainNs = 10'000 * kMs;
constexpr uint64_t kMostBetweenLooks = 16 << 20;
constexpr uint64_t kMostRequest = uint64_t{1} << 40;  // more is not meant

uint64_t Less(uint64_t a, uint64_t b) { return a > b ? a - b : 0; }
uint64_t Plus(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }
uint64_t PartOf(uint64_t limit, uint64_t permille) { return limit / 1000 * permille; }

}  // namespace

uint32_t DumpPolicy::LevelPermille(uint32_t percent, uint32_t level) {
  constexpr uint32_t kWayUp[kLevels] = {0, 500, 750, 900};
  return percent * 10 + (1000 - percent * 10) * kWayUp[level] / 1000;
}

void DumpPolicy::Start(const DumpSettings& settings, const DumpFigures& figures) {
  allocated_ = settings.allocated;
  growth_ = settings.growth;
  period_ns_ = settings.seconds * 1000 * kMs;
  percent_ = settings.limit_percent;
  StartAnew(figures);
}

void DumpPolicy::StartAnew(const DumpFigures& f) {
  dump_allocated_ = allocated_ == 0 ? kNever : Plus(f.allocated_bytes, allocated_);
  highest_live_ = f.live_bytes;
  dump_live_ = growth_ == 0 ? kNever : Plus(highest_live_, growth_);
  dump_ns_ = period_ns_ == 0 ? kNever : Plus(f.now_ns, period_ns_);
  look_live_ = look_at_once_live_ = kNever;
  look_ns_ = percent_ == 0 ? kNever : 0;
  last_look_ns_ = 0;
  last_look_large_ = f.large_bytes;
  last_look_small_ = f.small_bytes();
  in_step_ = false;
  level_ = 0;
  limit_dump_ns_ = 0;
  foreseen_live_ = foreseen_ns_ = 0;
  room_.store(kNever, std::memory_order_relaxed);
  Publish();
}

void DumpPolicy::ForgetLive() {
  highest_live_ = 0;
  dump_live_ = growth_ == 0 ? kNever : growth_;
  last_look_large_ = last_look_small_ = 0;
  in_step_ = false;
  foreseen_live_ = 0;
  look_ns_ = percent_ == 0 ? kNever : 0;
  Publish();
}

void DumpPolicy::Publish() {
  next_allocated_.store(dump_allocated_, std::memory_order_relaxed);
  next_live_.store(std::min(dump_live_, look_live_), std::memory_order_relaxed);
  urgent_live_.store(percent_ == 0 ? kNever : look_at_once_live_, std::memory_order_relaxed);
  next_ns_.store(std::min(dump_ns_, look_ns_), std::memory_order_relaxed);
}

bool DumpPolicy::WantsMemory(const DumpFigures& f) const {
  if (percent_ == 0) return false;
  if (f.live_bytes >= look_at_once_live_) return true;
  if (last_look_ns_ != 0 && Less(f.now_ns, last_look_ns_) < kLeastApartNs) return false;
  return f.live_bytes >= look_live_ || f.now_ns >= look_ns_;
}

DumpReason DumpPolicy::Decide(const DumpFigures& f, const MemoryFigures* memory, uint64_t request) {
  DumpReason reason = DumpReason::kNone;
  // In the order of what is worth most to know.
  if (f.now_ns >= dump_ns_) {
    reason = DumpReason::kTime;
    dump_ns_ = Plus(f.now_ns, period_ns_ - (f.now_ns - dump_ns_) % period_ns_);
  }
  if (f.allocated_bytes >= dump_allocated_) {
    reason = DumpReason::kAllocated;
    dump_allocated_ = Plus(f.allocated_bytes, allocated_);
  }
  if (f.live_bytes >= dump_live_) reason = DumpReason::kGrowth;
  if (memory != nullptr && NearLimit(f, *memory, request)) reason = DumpReason::kLimit;
  if (reason != DumpReason::kNone && growth_ != 0) {
    highest_live_ = std::max(highest_live_, f.live_bytes);
    dump_live_ = Plus(highest_live_, growth_);
  }
  Publish();
  return reason;
}

// What large blocks have grown by without being touched yet.
uint64_t DumpPolicy::Untouched(const DumpFigures& f, uint64_t used) {
  const bool stale = Less(f.now_ns, step_ns_) >= kStepNs;
  if (!in_step_ || stale) {
    // What was allocated since the last look is all that may still be untouched.
    step_large_ = std::min(last_look_large_, f.large_bytes);
    step_small_ = std::min(last_look_small_, f.small_bytes());
    step_used_ = used;
    step_ns_ = f.now_ns;
    in_step_ = true;
  }
  const uint64_t touched = Less(Less(used, step_used_), Less(f.small_bytes(), step_small_));
  const uint64_t untouched = Less(Less(f.large_bytes, step_large_), touched);
  if (untouched == 0) {
    step_large_ = f.large_bytes;
    step_small_ = f.small_bytes();
    step_used_ = used;
    step_ns_ = f.now_ns;
  }
  return untouched;
}

bool DumpPolicy::NearLimit(const DumpFigures& f, const MemoryFigures& memory, uint64_t request) {
  const MemoryUse& touched = memory.cgroup.limit != 0 ? memory.cgroup : memory.machine;
  const uint64_t untouched = Untouched(f, touched.used);
  const uint32_t last_level = LevelPermille(percent_, kLevels - 1);
  uint64_t room = kNever;  // to the next level of what is nearest to it
  uint64_t room_limit = 0;
  uint64_t left_of_all = kNever;
  uint32_t reached = 0;  // levels that usage is at
  bool below_all = true;
  bool foreseen = false;
  const auto look = [&](const MemoryUse& use, uint64_t to_come, uint64_t most) {
    if (use.limit == 0) return;
    uint32_t level = 0;
    while (level < kLevels && use.used >= PartOf(use.limit, LevelPermille(percent_, level))) {
      ++level;
    }
    reached = std::max(reached, level);
    if (use.used >= PartOf(use.limit, Less(percent_ * 10, kRearmPermille))) below_all = false;
    if (request <= most) to_come = Plus(to_come, request);
    const uint64_t with = Plus(use.used, to_come);
    left_of_all = std::min(left_of_all, Less(use.limit, use.used));
    if (to_come != 0 && with >= PartOf(use.limit, last_level)) foreseen = true;
    const uint32_t next = std::max(level, std::min(level_, kLevels - 1));
    const uint64_t goal =
        next < kLevels ? PartOf(use.limit, LevelPermille(percent_, next)) : use.limit;
    const uint64_t left = Less(goal, with);
    if (left < room) {
      room = left;
      room_limit = use.limit;
    }
  };
  // Address space beyond the limit can never be had, so that such a request says nothing.
  look(memory.address_space, 0, memory.address_space.limit);
  look(memory.cgroup, untouched, kMostRequest);
  look(memory.machine, untouched, kMostRequest);
  room_.store(left_of_all, std::memory_order_relaxed);

  if (below_all && level_ != 0 && Less(f.now_ns, limit_dump_ns_) >= kRearmNs) {
    level_ = 0;
    foreseen_live_ = 0;
  }
  bool due = reached > level_;
  level_ = std::max(level_, reached);
  if (foreseen && (f.live_bytes >= foreseen_live_ || f.now_ns >= foreseen_ns_)) {
    due = true;
    foreseen_live_ = Plus(f.live_bytes, room_limit / 50);
    foreseen_ns_ = Plus(f.now_ns, kForeseenAgainNs);
  }
  if (due) limit_dump_ns_ = f.now_ns;
  PlanNextLook(f, room, room_limit);
  return due;
}

void DumpPolicy::PlanNextLook(const DumpFigures& f, uint64_t room, uint64_t limit) {
  last_look_ns_ = f.now_ns;
  last_look_large_ = f.large_bytes;
  last_look_small_ = f.small_bytes();
  const uint64_t least = limit / 256 + 1;
  look_live_ = Plus(f.live_bytes, std::min(std::max(room / 4, least), kMostBetweenLooks));
  look_at_once_live_ = Plus(f.live_bytes, std::max(room / 2, least));
  look_ns_ = Plus(f.now_ns, room < limit / 5 ? kNearLookNs : kFarLookNs);
}

}  // namespace heapgauge::agent
