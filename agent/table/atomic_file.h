// Operations on words of the gauge file, which other threads write and other processes read at the
// same time. All are single words; see wire/gauge_format.h for what readers may conclude.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>

namespace heapgauge::agent {

inline void AddTo(uint64_t& word, uint64_t amount) {
  std::atomic_ref<uint64_t>(word).fetch_add(amount, std::memory_order_relaxed);
}

inline void SubtractFrom(uint64_t& word, uint64_t amount) {
  std::atomic_ref<uint64_t>(word).fetch_sub(amount, std::memory_order_relaxed);
}

inline void AddTo(double& word, double amount) {
  std::atomic_ref<double> value(word);
  double old = value.load(std::memory_order_relaxed);
  while (!value.compare_exchange_weak(old, old + amount, std::memory_order_relaxed)) {
  }
}

template <typename T>
void Put(T& word, T value) {
  std::atomic_ref<T>(word).store(value, std::memory_order_relaxed);
}

// For counts of records written so far.
inline void RaiseTo(uint32_t& word, uint32_t value) {
  std::atomic_ref<uint32_t> count(word);
  uint32_t old = count.load(std::memory_order_relaxed);
  while (old < value && !count.compare_exchange_weak(old, value, std::memory_order_release)) {
  }
}

// Writes a record that begins with a sequence word (0 free, odd being written, even valid).
// `sequence` is the last even value this slot had, kept privately or read back: readers only
// compare it.
template <typename Record, typename Write>
void WriteSequenced(Record& record, Write write) {
  std::atomic_ref<uint64_t> state(record.state);
  const uint64_t before = state.load(std::memory_order_relaxed) & ~uint64_t{1};
  state.store(before + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  write(record);
  state.store(before + 2, std::memory_order_release);
}

}  // namespace heapgauge::agent
