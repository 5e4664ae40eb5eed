// Decides which blocks are samples: a countdown of bytes in each thread, exponential gaps, and a
// cap on samples per second that works by raising the interval.
//
// The interval in force belongs to the gap, not to the moment: a thread finishes the gap that it
// drew and weighs the sample at its end by the interval it was drawn with. So the interval can be
// changed at any time and the estimates stay unbiased.
//
// Decide and NoteSample run on the slow path. Lock-free, allocation-free, async-signal-safe.
#pragma once

#include <atomic>
#include <cstdint>

#include "wire/gauge_format.h"

namespace heapgauge::agent {

class Sampler {
 public:
  // `seed` 0 stands for a random one.
  void Start(uint64_t seed);

  // For a block of `size` bytes in which the thread's countdown ran out, which is now `countdown`
  // (below zero, wrapped): the interval to weigh the block by if it is a sample, 0 if not. Either
  // way the countdown is set for what follows.
  uint64_t Decide(uint64_t size, uint64_t countdown);

  // Counts one sample against the cap and adapts the interval in force.
  void NoteSample(uint64_t now_ns);

  void SetActive(bool active) { active_.store(active, std::memory_order_relaxed); }
  void SetInterval(uint64_t interval);
  void SetMaxPerSecond(uint32_t samples) { max_per_second_.store(samples); }

  bool active() const { return active_.load(std::memory_order_relaxed); }
  uint64_t interval() const { return interval_.load(std::memory_order_relaxed); }
  uint64_t interval_in_force() const { return in_force_.load(std::memory_order_relaxed); }

  // In a forked child: other random numbers than the parent's.
  void Reseed();

 private:
  // No countdown is longer: a thread looks at the control words at least every so many bytes, and
  // since the gap has no memory it may be drawn anew there.
  static constexpr uint64_t kLongestCountdown = 4 << 20;
  // The same while inactive, when there is nothing else to do: a wake-up is noticed soon.
  static constexpr uint64_t kInactiveCountdown = 64 << 10;

  std::atomic<bool> active_;
  std::atomic<uint64_t> interval_;  // asked for
  std::atomic<uint64_t> in_force_;
  std::atomic<uint32_t> max_per_second_;
  std::atomic<uint64_t> second_began_ns_;
  std::atomic<uint32_t> in_this_second_;
  std::atomic<uint64_t> seed_;
  std::atomic<uint64_t> seeds_given_;
};

}  // namespace heapgauge::agent
