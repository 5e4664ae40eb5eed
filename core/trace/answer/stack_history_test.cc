#include "core/trace/answer/live_stacks.h"

#include <gtest/gtest.h>

#include "core/trace/testing/make_trace.h"

namespace heapgauge::trace {
namespace {

using testing::FakeFrame;
using testing::MakeTrace;

// Two stacks: one grows by 100 bytes at each of 1000 moments, the other has 50 bytes at a time.
void Fill(MakeTrace* m, uint32_t segment_events) {
  m->options.segment_events = segment_events;
  const uint32_t grows = m->Stack({FakeFrame("Grow", "a.cc", 1), FakeFrame("main", "a.cc", 9)});
  const uint32_t stays = m->Stack({FakeFrame("Stay", "a.cc", 2), FakeFrame("main", "a.cc", 9)});
  ASSERT_EQ(grows, 1u);
  ASSERT_EQ(stays, 2u);
  for (uint64_t i = 1; i <= 1000; ++i) {
    m->Allocate(i * 1000, 0, 100, grows);
    const uint64_t block = m->Allocate(i * 1000 + 100, 0, 50, stays);
    m->Free(i * 1000 + 200, block);
  }
}

TEST(LiveHistory, IsExactAtItsMoments) {
  for (const uint32_t segment_events : {10'000u, 7u}) {
    MakeTrace m;
    Fill(&m, segment_events);
    const std::string path = ::testing::TempDir() + "stack_history.hgt";
    ASSERT_TRUE(m.Write(path));
    const auto trace = TraceFile::Open(path);
    ASSERT_TRUE(trace) << trace.error().message;
    HistoryRequest request;
    request.points = 11;
    request.groups = 3;
    request.members = {{1, 0}, {2, 1}, {1, 2}, {2, 2}, {77, 2}};
    const auto history = ReadStackHistory(**trace, request);
    ASSERT_TRUE(history) << history.error().message;
    ASSERT_EQ(history->times_ns.size(), 11u);
    ASSERT_EQ(history->bytes.size(), 3u);
    for (size_t i = 0; i < 11; ++i) {
      const uint64_t time = history->times_ns[i];
      EXPECT_EQ(history->bytes[0][i], time / 1000 * 100) << "at " << time;
      EXPECT_EQ(history->bytes[2][i], history->bytes[0][i] + history->bytes[1][i]);
    }
    EXPECT_EQ(history->bytes[0].back(), 100'000u);
    EXPECT_EQ(history->bytes[1].back(), 0u);
    request.from_ns = 400'000;
    request.to_ns = 600'000;
    const auto part = ReadStackHistory(**trace, request);
    ASSERT_TRUE(part);
    EXPECT_GE(part->times_ns.front(), 400'000u);
    EXPECT_LE(part->times_ns.back(), 600'000u);
    EXPECT_EQ(part->bytes[0].back(), part->times_ns.back() / 1000 * 100);
  }
}

}  // namespace
}  // namespace heapgauge::trace
