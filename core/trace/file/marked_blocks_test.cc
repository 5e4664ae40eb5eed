#include "core/trace/file/block.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace heapgauge::trace {
namespace {

TEST(MarkedBlocks, HasWhatWasMarked) {
  constexpr uint64_t kBlocks = 3'000'001;
  MarkedBlocks marked(kBlocks);
  for (uint64_t number = 0; number < kBlocks + 100; number += 7) marked.Mark(number);
  for (uint64_t number = 0; number < kBlocks + 100; ++number) {
    ASSERT_EQ(marked.IsMarked(number), number < kBlocks && number % 7 == 0) << number;
  }
}

TEST(MarkedBlocks, ManyThatAreOnlyClaimedCostLittle) {
  MarkedBlocks marked(uint64_t{1} << 44);  // as bits, two terabytes
  marked.Mark((uint64_t{1} << 44) - 1);
  EXPECT_TRUE(marked.IsMarked((uint64_t{1} << 44) - 1));
  EXPECT_FALSE(marked.IsMarked((uint64_t{1} << 44) - 2));
  EXPECT_FALSE(marked.IsMarked(uint64_t{1} << 43));
}

TEST(MarkedBlocks, SeveralThreadsMark) {
  constexpr uint64_t kBlocks = 2'500'000;
  MarkedBlocks marked(kBlocks);
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < 4; ++i) {
    threads.emplace_back([&marked, i] {
      for (uint64_t number = i; number < kBlocks; number += 4) marked.Mark(number);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (uint64_t number = 0; number < kBlocks; ++number) ASSERT_TRUE(marked.IsMarked(number));
}

}  // namespace
}  // namespace heapgauge::trace
