#include "core/leaks/scan/word_filter.h"

namespace heapgauge::leaks {
namespace {

size_t FilterPlain(const uint64_t* words, size_t count, uint64_t low, uint64_t span,
                   uint32_t* found) {
  size_t n = 0;
  for (size_t i = 0; i < count; ++i) {
    found[n] = static_cast<uint32_t>(i);
    n += words[i] - low < span ? 1 : 0;
  }
  return n;
}

}  // namespace

WordFilter PlainWordFilter() { return FilterPlain; }

}  // namespace heapgauge::leaks
