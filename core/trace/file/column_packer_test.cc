#include "core/trace/file/chunk.h"

#include <gtest/gtest.h>
#include <zstd.h>

#include <random>

namespace heapgauge::trace {
namespace {

using Bytes = std::vector<uint8_t>;

// As times have: few of 256 values are frequent, in no order.
Bytes Frequent(size_t count) {
  std::mt19937 random(1);
  std::geometric_distribution<int> value(0.05);
  Bytes bytes(count);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(value(random));
  return bytes;
}

// The same sixty bytes, each of which is as frequent as any other.
Bytes Repeating(size_t count) {
  Bytes bytes(count);
  for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<uint8_t>(i % 60 * 4);
  return bytes;
}

size_t Pack(ColumnPacker* packer, uint32_t column, const Bytes& bytes) {
  Bytes out(ColumnPacker::Bound(bytes.size()));
  const size_t length = packer->Pack(column, bytes, out.data());
  if (length == 0) return bytes.size();
  Bytes back(bytes.size() + 1);
  EXPECT_EQ(ZSTD_decompress(back.data(), back.size(), out.data(), length), bytes.size());
  back.pop_back();
  EXPECT_EQ(back, bytes);
  return length;
}

TEST(ColumnPacker, PacksByFrequencyWhatHasNoRepeats) {
  ColumnPacker packer;
  const Bytes times = Frequent(100'000);
  const size_t first = Pack(&packer, 1, times);
  const size_t later = Pack(&packer, 1, times);
  EXPECT_LT(first, 80'000U);
  EXPECT_LT(later, first + first / 20);
}

TEST(ColumnPacker, GoesOnLookingWhereItPays) {
  ColumnPacker packer;
  const Bytes repeating = Repeating(100'000);
  const size_t first = Pack(&packer, 1, repeating);
  EXPECT_LT(first, 1000U);
  for (int i = 0; i < 40; ++i) EXPECT_EQ(Pack(&packer, 1, repeating), first);
}

TEST(ColumnPacker, LooksAgainAfterAWhile) {
  ColumnPacker packer;
  const Bytes noise = [] {
    std::mt19937 random(2);
    Bytes bytes(100'000);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
    return bytes;
  }();
  EXPECT_EQ(Pack(&packer, 1, noise), noise.size());
  // A word here and there that was met before: nothing for who looks at every hundredth byte only.
  Bytes words = noise;
  for (size_t i = 8; i + 24 < words.size(); i += 32) {
    std::copy_n(words.begin() + (i < 4096 ? 0 : static_cast<ptrdiff_t>(i) - 4096), 24,
                words.begin() + static_cast<ptrdiff_t>(i));
  }
  const size_t without = Pack(&packer, 1, words);
  EXPECT_EQ(Pack(&packer, 2, words), Pack(&packer, 3, words))
      << "columns do not share what is known";
  size_t looked = without;
  for (int i = 0; i < 15; ++i) looked = Pack(&packer, 1, words);
  EXPECT_LT(looked, without * 3 / 4);
}

TEST(ColumnPacker, LearnsNothingFromSmallColumns) {
  ColumnPacker packer;
  Pack(&packer, 1, Frequent(100));
  const Bytes repeating = Repeating(100'000);
  EXPECT_EQ(Pack(&packer, 1, repeating), Pack(&packer, 2, repeating));
}

}  // namespace
}  // namespace heapgauge::trace
