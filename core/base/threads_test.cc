#include <gtest/gtest.h>

#include <atomic>
#include <new>
#include <thread>
#include <vector>

#include "core/base/batch_queue.h"
#include "core/base/threads.h"

namespace heapgauge {
namespace {

TEST(Lazy, IsMadeOnceForAll) {
  const Lazy<int> lazy;
  std::atomic<int> made{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] { EXPECT_EQ(lazy.Get([&] { return 41 + ++made; }), 42); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made, 1);
}

TEST(Lazy, IsTriedAgainAfterAFailure) {
  const Lazy<int> lazy;
  EXPECT_THROW(lazy.Get([]() -> int { throw std::bad_alloc(); }), std::bad_alloc);
  EXPECT_EQ(lazy.Get([] { return 7; }), 7);
}

TEST(InParallel, DoesEachPartOnce) {
  for (const size_t parts : {0, 1, 2, 100}) {
    std::vector<std::atomic<int>> done(parts);
    InParallel(parts, [&](size_t part) { ++done[part]; });
    for (const auto& times : done) EXPECT_EQ(times, 1);
  }
}

TEST(InParallel, PartsCoverTheListWhateverTheMachine) {
  EXPECT_EQ(PartsOf(0, 10), 1u);
  EXPECT_EQ(PartsOf(19, 10), 1u);
  EXPECT_EQ(PartsOf(20, 10), 2u);
  EXPECT_EQ(PartsOf(1'000'000, 10), kMostParts);
  for (const size_t count : {0, 1, 7, 1000}) {
    EXPECT_EQ(BeginOfPart(count, 0, 7), 0u);
    EXPECT_EQ(BeginOfPart(count, 7, 7), count);
    for (size_t part = 0; part < 7; ++part) {
      EXPECT_LE(BeginOfPart(count, part, 7), BeginOfPart(count, part + 1, 7));
    }
  }
}

struct Numbers {
  std::vector<int> list;
  void Clear() { list.clear(); }
};

TEST(BatchQueue, PutsAllInOrder) {
  for (const int count : {0, 1, 10, 999, 100'000}) {
    std::vector<int> all;
    const auto put = [&](Numbers* batch) {
      all.insert(all.end(), batch->list.begin(), batch->list.end());
    };
    BatchQueue<Numbers, decltype(put)> queue(put);
    for (int i = 0; i < count; ++i) {
      queue.at_hand().list.push_back(i);
      if (queue.at_hand().list.size() == 10) queue.HandOver();
    }
    queue.Finish();
    ASSERT_EQ(all.size(), static_cast<size_t>(count));
    for (int i = 0; i < count; ++i) ASSERT_EQ(all[static_cast<size_t>(i)], i);
  }
}

}  // namespace
}  // namespace heapgauge
