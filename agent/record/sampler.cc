#include "agent/record/sampler.h"

#include "agent/sys/os.h"
#include "agent/sys/thread_state.h"
#include "agent/table/poisson.h"

namespace heapgauge::agent {

void Sampler::Start(uint64_t seed) { seed_.store(seed != 0 ? seed : os::RandomSeed()); }

void Sampler::Reseed() {
  seed_.fetch_add(os::RandomSeed() | 1);
  hg_thread.random = 0;
}

void Sampler::SetInterval(uint64_t interval) {
  if (interval == 0) interval = 1;
  if (interval > wire::kMaxIntervalBytes) interval = wire::kMaxIntervalBytes;
  interval_.store(interval);
  in_force_.store(interval);
}

uint64_t Sampler::Decide(uint64_t size, uint64_t countdown) {
  ThreadState& thread = hg_thread;
  if (!active()) {
    thread.interval = 0;
    thread.capped = 0;
    thread.countdown = kInactiveCountdown;
    return 0;
  }
  if (thread.random == 0) {
    uint64_t state = seed_.load(std::memory_order_relaxed) +
                     seeds_given_.fetch_add(1, std::memory_order_relaxed) * 0xD1B54A32D192ED03;
    thread.random = NextRandom(&state) | 1;
  }
  const uint64_t next_interval = interval_in_force();
  uint64_t sampled_by = thread.interval;
  uint64_t next_gap;
  if (sampled_by != 0) {
    next_gap = NextGap(&thread.random, next_interval);
  } else {
    // A gap begins: where the capped one was cut, or at this block.
    const uint64_t from_there = thread.capped != 0 ? 0 - countdown : size;
    next_gap = NextGap(&thread.random, next_interval);
    if (next_gap < from_there) {
      sampled_by = next_interval;
      next_gap = NextGap(&thread.random, next_interval);
    } else {
      next_gap -= from_there;
    }
  }
  thread.capped = next_gap > kLongestCountdown;
  thread.interval = thread.capped != 0 ? 0 : next_interval;
  thread.countdown = thread.capped != 0 ? kLongestCountdown : next_gap;
  return sampled_by;
}

void Sampler::NoteSample(uint64_t now_ns) {
  const uint32_t cap = max_per_second_.load(std::memory_order_relaxed);
  if (cap == 0) return;
  uint64_t began = second_began_ns_.load(std::memory_order_relaxed);
  if (now_ns - began >= 1'000'000'000) {
    if (!second_began_ns_.compare_exchange_strong(began, now_ns)) return;
    const uint32_t last_second = in_this_second_.exchange(1);
    const uint64_t in_force = interval_in_force();
    if ((uint64_t{last_second} - 1) * 4 < cap && in_force > interval()) {
      in_force_.store(in_force / 2 > interval() ? in_force / 2 : interval());
    }
    return;
  }
  if (in_this_second_.fetch_add(1, std::memory_order_relaxed) + 1 < cap) return;
  // Twice the interval, and half the cap left for this second at the new rate.
  in_this_second_.store(cap / 2);
  const uint64_t in_force = interval_in_force();
  if (in_force < wire::kMaxIntervalBytes) in_force_.store(in_force * 2);
}

}  // namespace heapgauge::agent
