#include "core/trace/record/merge.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>

namespace heapgauge::trace {
namespace {

using wire::TraceEventKind;

void AddEvent(EventStream* stream, uint64_t time, TraceEventKind kind, uint64_t address) {
  wire::TraceAllocation event{};
  event.time = time;
  event.what = wire::PackTraceWhat(kind, address);
  event.size = time * 2;
  event.stack = 7;
  uint8_t bytes[sizeof event];
  std::memcpy(bytes, &event, sizeof event);
  ASSERT_TRUE(stream->Append(bytes, wire::TraceEventBytes(kind), UINT64_MAX / 4));
}

std::vector<MergedEvent> MergeAll(const std::vector<EventStream*>& streams, uint64_t watermark,
                                  size_t most) {
  Merge merge(most);
  merge.Start(streams, watermark);
  std::vector<MergedEvent> all;
  for (auto batch = merge.Next(); !batch.empty(); batch = merge.Next()) {
    EXPECT_LE(batch.size(), most);
    all.insert(all.end(), batch.begin(), batch.end());
  }
  return all;
}

TEST(MergingStreams, PutsAnyNumberOfThreadsInOrder) {
  std::mt19937_64 random(7);
  for (const size_t threads : {1U, 2U, 3U, 64U, 200U}) {
    for (const size_t most : {1U, 7U, 256U}) {
      std::vector<std::unique_ptr<EventStream>> streams;
      std::vector<EventStream*> list;
      std::vector<uint64_t> expected;
      for (size_t t = 0; t < threads; ++t) {
        streams.push_back(std::make_unique<EventStream>(t, 100 + t, t, 0));
        list.push_back(streams.back().get());
        uint64_t time = 0;
        for (int i = 0; i < 200; ++i) {
          time += random() % (i % 20 == 0 ? 1000 : 5);
          AddEvent(list[t], time, i % 2 == 0 ? TraceEventKind::kAllocate : TraceEventKind::kFree,
                   16);
          expected.push_back(time);
        }
      }
      std::sort(expected.begin(), expected.end());
      const auto merged = MergeAll(list, UINT64_MAX, most);
      ASSERT_EQ(merged.size(), expected.size());
      for (size_t i = 0; i < merged.size(); ++i) ASSERT_EQ(merged[i].time, expected[i]);
      for (EventStream* stream : list) EXPECT_TRUE(stream->empty());
    }
  }
}

// A stretch of one thread may be as long as it likes, and threads may take turns at any length.
TEST(MergingStreams, PutsStretchesOfAnyLengthInOrder) {
  for (const uint64_t length : {1U, 63U, 64U, 65U, 300U, 1000U}) {
    EventStream a(1, 1, 0, 0);
    EventStream b(2, 2, 1, 0);
    constexpr uint64_t kEvents = 4000;
    for (uint64_t time = 1; time <= kEvents; ++time) {
      AddEvent(time / length % 2 == 0 ? &a : &b, time, TraceEventKind::kAllocate, time * 16);
    }
    const auto merged = MergeAll({&a, &b}, UINT64_MAX, 256);
    ASSERT_EQ(merged.size(), kEvents);
    for (uint64_t i = 0; i < kEvents; ++i) {
      ASSERT_EQ(merged[i].time, i + 1);
      ASSERT_EQ(merged[i].address(), 16 * (i + 1));
      ASSERT_EQ(merged[i].thread, (i + 1) / length % 2);
      ASSERT_EQ(merged[i].size, 2 * (i + 1));
    }
  }
}

TEST(MergingStreams, LeavesWhatIsBehindTheWatermark) {
  EventStream a(1, 1, 0, 0);
  EventStream b(2, 2, 1, 0);
  for (const uint64_t time : {10, 20, 30}) AddEvent(&a, time, TraceEventKind::kFree, 16);
  for (const uint64_t time : {15, 25, 35}) AddEvent(&b, time, TraceEventKind::kFree, 16);
  EXPECT_EQ(MergeAll({&a, &b}, 25, 10).size(), 4U);
  EXPECT_EQ(a.front().time, 30U);
  EXPECT_EQ(b.front().time, 35U);
}

TEST(MergingStreams, TakesAwayBeforeItHandsOutAtTheSameTime) {
  for (const bool swapped : {false, true}) {
    EventStream a(1, 1, 0, 0);
    EventStream b(2, 2, 1, 0);
    AddEvent(&a, 10, TraceEventKind::kAllocate, 16);
    AddEvent(&b, 10, TraceEventKind::kFree, 16);
    const auto merged = MergeAll(
        swapped ? std::vector<EventStream*>{&b, &a} : std::vector<EventStream*>{&a, &b}, 10, 10);
    ASSERT_EQ(merged.size(), 2U);
    EXPECT_EQ(merged[0].kind(), TraceEventKind::kFree);
    EXPECT_EQ(merged[1].kind(), TraceEventKind::kAllocate);
    EXPECT_EQ(merged[1].size, 20U);
    EXPECT_EQ(merged[1].stack, 7U);
    EXPECT_EQ(merged[1].thread, 0U);
  }
}

}  // namespace
}  // namespace heapgauge::trace
