// Whole numbers that overflow as those of pprof do: they wrap. Values come from files, so sums of
// them can be anything, and nothing here is undefined.
//
// Pure functions.
#pragma once

#include <cstdint>

namespace heapgauge {

inline int64_t WrapAdd(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
inline int64_t WrapMul(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
inline int64_t WrapNegate(int64_t a) { return static_cast<int64_t>(-static_cast<uint64_t>(a)); }
// The smallest number has no positive twin and stays as it is.
inline int64_t Abs64(int64_t a) { return a < 0 ? WrapNegate(a) : a; }
// REQUIRES: b is not 0.
inline int64_t WrapDivide(int64_t a, int64_t b) { return b == -1 ? WrapNegate(a) : a / b; }
// A sum, or the mean if something was counted.
inline int64_t MeanOf(int64_t sum, int64_t count) {
  return count == 0 ? sum : WrapDivide(sum, count);
}

}  // namespace heapgauge
