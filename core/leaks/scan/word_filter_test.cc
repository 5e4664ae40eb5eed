#include "core/leaks/scan/word_filter.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace heapgauge::leaks {
namespace {

std::vector<uint32_t> Found(WordFilter filter, const std::vector<uint64_t>& words, uint64_t low,
                            uint64_t span) {
  std::vector<uint32_t> found(words.size() + 4);
  found.resize(filter(words.data(), words.size(), low, span, found.data()));
  return found;
}

TEST(WordFilter, FindsWordsInRangeInOrder) {
  const std::vector<uint64_t> words = {0,  99, 100, 101, 199, 200, UINT64_MAX, uint64_t{1} << 63,
                                       150};
  const std::vector<uint32_t> expected = {2, 3, 4, 8};
  EXPECT_EQ(Found(PlainWordFilter(), words, 100, 100), expected);
  EXPECT_EQ(Found(BestWordFilter(), words, 100, 100), expected);
}

TEST(WordFilter, AnEmptyRangeHasNone) {
  EXPECT_TRUE(Found(BestWordFilter(), {0, 1, 2, 3, 4}, 0, 0).empty());
}

TEST(WordFilter, TheFastOneFindsWhatThePlainOneFinds) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 500; ++round) {
    std::vector<uint64_t> words(random() % 70);
    const uint64_t low = random() >> (17 + random() % 40);
    const uint64_t span = random() >> (17 + random() % 40);
    for (uint64_t& word : words) {
      word = random() % 3 == 0 ? random() : low + random() % (span + 8) - 4;
    }
    EXPECT_EQ(Found(BestWordFilter(), words, low, span),
              Found(PlainWordFilter(), words, low, span));
  }
}

}  // namespace
}  // namespace heapgauge::leaks
