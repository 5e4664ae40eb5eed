#include <immintrin.h>

#include "core/leaks/scan/word_filter.h"

namespace heapgauge::leaks {
namespace {

__attribute__((target("avx2"))) size_t FilterAvx2(const uint64_t* words, size_t count, uint64_t low,
                                                  uint64_t span, uint32_t* found) {
  // Words are compared as signed numbers: low <= w < low + span, both of them positive.
  const __m256i below = _mm256_set1_epi64x(static_cast<int64_t>(low) - 1);
  const __m256i end = _mm256_set1_epi64x(static_cast<int64_t>(low + span));
  // A bit for each of four words that lie in the range.
  const auto in_range = [&](const uint64_t* four) __attribute__((target("avx2"))) {
    const __m256i w = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(four));
    const __m256i in = _mm256_and_si256(_mm256_cmpgt_epi64(w, below), _mm256_cmpgt_epi64(end, w));
    return static_cast<uint32_t>(_mm256_movemask_pd(_mm256_castsi256_pd(in)));
  };
  size_t n = 0;
  size_t i = 0;
  for (; i + 16 <= count; i += 16) {
    uint32_t mask = in_range(words + i) | in_range(words + i + 4) << 4 |
                    in_range(words + i + 8) << 8 | in_range(words + i + 12) << 12;
    while (mask != 0) {
      found[n++] = static_cast<uint32_t>(i) + static_cast<uint32_t>(__builtin_ctz(mask));
      mask &= mask - 1;
    }
  }
  for (; i < count; ++i) {
    found[n] = static_cast<uint32_t>(i);
    n += words[i] - low < span ? 1 : 0;
  }
  return n;
}

}  // namespace

WordFilter BestWordFilter() {
  static const WordFilter best =
      __builtin_cpu_supports("avx2") != 0 ? FilterAvx2 : PlainWordFilter();
  return best;
}

}  // namespace heapgauge::leaks
