#include "core/trace/record/buffer_reader.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <limits>
#include <thread>

#include "core/base/testing/eventually.h"
#include "core/trace/record/merge.h"
#include "core/trace/record/testing/traced_gauge.h"

namespace heapgauge::trace {
namespace {

using testing::TracedGauge;
using wire::TraceEventKind;

constexpr uint32_t kHeader = sizeof(wire::TraceBufferHeader);

class BufferReading : public ::testing::Test {
 protected:
  explicit BufferReading(uint32_t buffers = 4)
      : gauge_(buffers), mapped_(*MappedGauge::Open(gauge_.path())) {
    Make(32 << 20);
  }
  void Make(size_t queue_bytes) {
    BufferReader::Options options;
    options.queue_bytes = queue_bytes;
    options.clock = [this] { return now_; };
    options.slack = 20;
    options.patience = 1000;
    reader_.emplace(&mapped_, options);
  }
  std::vector<uint64_t> Times(EventStream& stream) {
    std::vector<uint64_t> times;
    for (const MergedEvent& event : stream) times.push_back(event.time);
    return times;
  }

  TracedGauge gauge_;
  MappedGauge mapped_;
  uint64_t now_ = 1000;
  std::optional<BufferReader> reader_;
};

TEST_F(BufferReading, CopiesWhatIsThereAndGivesClosedBuffersBack) {
  auto buffer = gauge_.Take(0, 1, 100);
  buffer.Allocate(10, 0x1000, 64);
  now_ = 20;
  EXPECT_EQ(reader_->Read().bytes, 32U);
  EXPECT_FALSE(buffer.IsReleased());
  buffer.Free(20, 0x1000);
  buffer.Close();
  EXPECT_EQ(reader_->Read().bytes, 16U);
  EXPECT_TRUE(buffer.IsReleased());
  EXPECT_EQ(gauge_.header().trace.releases, 1U);
  ASSERT_EQ(reader_->streams().size(), 1U);
  EXPECT_EQ(Times(*reader_->streams()[0]), (std::vector<uint64_t>{10, 20}));
  EXPECT_EQ(reader_->streams()[0]->thread(), 100U);
}

TEST_F(BufferReading, ReadsTheBuffersOfAThreadInTheOrderItFilledThem) {
  auto third = gauge_.Take(0, 1, 100);
  auto first = gauge_.Take(2, 1, 100);
  auto second = gauge_.Take(1, 1, 100);
  first.Allocate(10, 0x1000, 1);
  first.Close();
  second.Allocate(20, 0x2000, 1);
  second.Close();
  third.Allocate(30, 0x3000, 1);
  reader_->Read();
  ASSERT_EQ(reader_->streams().size(), 1U);
  EXPECT_EQ(Times(*reader_->streams()[0]), (std::vector<uint64_t>{10, 20, 30}));
  EXPECT_TRUE(first.IsReleased());
  EXPECT_TRUE(second.IsReleased());
  EXPECT_FALSE(third.IsReleased());
}

TEST_F(BufferReading, KnowsAllEventsUpToALittleBeforeNowWhileNoThreadIsWithinOne) {
  auto buffer = gauge_.Take(0, 1, 100);
  buffer.Allocate(10, 0x1000, 1);
  EXPECT_EQ(reader_->Read().watermark, 980U);
}

TEST_F(BufferReading, WaitsForAThreadThatIsWithinAnEvent) {
  auto buffer = gauge_.Take(0, 1, 100);
  buffer.Allocate(900, 0x1000, 1);
  buffer.SetOdd(true);
  EXPECT_EQ(reader_->Read().watermark, 900U);
  now_ = 1500;
  EXPECT_EQ(reader_->Read().watermark, 900U);
  buffer.SetOdd(false);
  EXPECT_EQ(reader_->Read().watermark, 1480U);
}

TEST_F(BufferReading, DoesNotWaitForeverForAThreadThatIsWithinAnEvent) {
  auto buffer = gauge_.Take(0, 1, 100);
  buffer.Allocate(900, 0x1000, 1);
  buffer.SetOdd(true);
  reader_->Read();
  now_ = 2001;
  EXPECT_EQ(reader_->Read().watermark, 1981U);
}

TEST_F(BufferReading, AThreadThatBeginsCannotHoldBackWhatWasBeforeIt) {
  auto other = gauge_.Take(0, 1, 100);
  other.Allocate(700, 0x1000, 1);
  reader_->Read();  // up to 980
  now_ = 2000;
  auto buffer = gauge_.Take(1, 2, 101);
  buffer.SetOdd(true);
  EXPECT_EQ(reader_->Read().watermark, 980U);
}

TEST_F(BufferReading, AHandlersBufferBesideAnOpenOneHasAStreamOfItsOwn) {
  auto open = gauge_.Take(0, 1, 100);
  open.Allocate(10, 0x1000, 1);
  open.SetOdd(true);
  now_ = 60;
  reader_->Read();
  auto handler = gauge_.Take(1, 1, 100);
  handler.Allocate(50, 0x2000, 1);
  handler.Close();
  reader_->Read();
  EXPECT_TRUE(handler.IsReleased());
  EXPECT_FALSE(open.IsReleased());
  open.Allocate(40, 0x3000, 1);  // was stamped before the handler's
  reader_->Read();
  ASSERT_EQ(reader_->streams().size(), 2U);
  EXPECT_EQ(reader_->streams()[0]->index(), reader_->streams()[1]->index());
  EXPECT_EQ(Times(*reader_->streams()[0]), (std::vector<uint64_t>{10, 40}));
  EXPECT_EQ(Times(*reader_->streams()[1]), (std::vector<uint64_t>{50}));
}

TEST_F(BufferReading, HandlersWithinHandlersAreKeptApartAsLongAsTheyLast) {
  now_ = 10'000;
  auto outer = gauge_.Take(0, 1, 100);
  auto middle = gauge_.Take(1, 1, 100);
  auto inner = gauge_.Take(2, 1, 100);
  const auto there = [](uint32_t) { return true; };
  uint64_t time = 10'000;
  uint64_t events = 0;
  for (int round = 0; round < 20; ++round) {
    now_ = time += 100;
    outer.Allocate(time, 0x1000, 1);
    middle.Allocate(time, 0x2000, 1);
    inner.Allocate(time, 0x3000, 1);
    reader_->Read();
    EXPECT_EQ(reader_->streams().size(), 3U);
    for (EventStream* stream : reader_->streams()) {
      events += stream->size();
      stream->Consume(stream->size());
    }
    reader_->ReleaseGone(there);
    // The one in the middle takes another buffer now and then.
    if (round % 5 == 4) {
      middle.Close();
      reader_->Read();
      ASSERT_TRUE(middle.IsReleased());
      middle = gauge_.Take(1, 1, 100);
    }
  }
  EXPECT_EQ(events, 60U);
  middle.Close();
  inner.Close();
  reader_->Read();
  reader_->ReleaseGone(there);
  EXPECT_EQ(reader_->streams().size(), 1U);
}

TEST_F(BufferReading, ReleasesWhatAThreadLeftThatIsNoMore) {
  auto left = gauge_.Take(0, 1, 100);
  auto kept = gauge_.Take(1, 2, 101);
  left.Allocate(10, 0x1000, 1);
  kept.Allocate(11, 0x2000, 1);
  now_ = 30;
  reader_->Read();
  left.Free(12, 0x1000);  // its last words
  reader_->ReleaseGone([](uint32_t thread) { return thread == 101; });
  EXPECT_TRUE(left.IsReleased());
  EXPECT_FALSE(kept.IsReleased());
  ASSERT_EQ(reader_->streams().size(), 2U);
  EXPECT_EQ(Times(*reader_->streams()[0]), (std::vector<uint64_t>{10, 12}));
}

// As threads are that began when their program allowed no system calls any more.
TEST_F(BufferReading, ThreadsWithoutANumberAreNeverGone) {
  auto one = gauge_.Take(0, 1, 0);
  auto other = gauge_.Take(1, 2, 0);
  one.Allocate(10, 0x1000, 1);
  other.Allocate(11, 0x2000, 1);
  now_ = 30;
  reader_->Read();
  for (int i = 0; i < 2; ++i) reader_->ReleaseGone([](uint32_t) { return false; });
  one.Free(12, 0x1000);
  other.Free(13, 0x2000);
  now_ = 60;
  reader_->Read();
  EXPECT_FALSE(one.IsReleased());
  ASSERT_EQ(reader_->streams().size(), 2U);
  EXPECT_EQ(Times(*reader_->streams()[0]), (std::vector<uint64_t>{10, 12}));
  EXPECT_EQ(Times(*reader_->streams()[1]), (std::vector<uint64_t>{11, 13}));
}

TEST_F(BufferReading, AThreadWithTheNumberOfAnEarlierOneEndsThatOne) {
  auto old = gauge_.Take(0, 1, 100);
  old.Allocate(10, 0x1000, 1);
  auto young = gauge_.Take(1, 2, 100);
  young.Allocate(20, 0x2000, 1);
  reader_->Read();
  const auto exists = [](uint32_t) { return true; };
  reader_->ReleaseGone(exists);
  reader_->ReleaseGone(exists);
  EXPECT_TRUE(old.IsReleased());
  EXPECT_FALSE(young.IsReleased());
}

TEST_F(BufferReading, ForgetsThreadsThatAreGoneAndEmpty) {
  for (uint64_t token = 1; token <= 100; ++token) {
    auto buffer = gauge_.Take(0, token, 100);
    buffer.Allocate(token, 0x1000, 1);
    buffer.Close();
    reader_->Read();
    for (EventStream* stream : reader_->streams()) stream->Consume(stream->size());
    for (int i = 0; i < 2; ++i) reader_->ReleaseGone([](uint32_t) { return false; });
    EXPECT_LE(reader_->streams().size(), 1U);
  }
  EXPECT_EQ(reader_->thread_count(), 100U);
}

TEST_F(BufferReading, StopsWhenItsQueueIsFullAndNeverStarvesAStream) {
  Make(1);
  auto large = gauge_.Take(0, 1, 100);
  auto other = gauge_.Take(1, 2, 101);
  uint64_t time = 1;
  while (large.HasRoom()) large.Allocate(time++, 0x1000, 1);
  large.Close();
  auto next = gauge_.Take(2, 1, 100);
  next.Allocate(3000, 0x1000, 1);
  other.Allocate(2500, 0x2000, 1);
  now_ = 10000;
  const auto pass = reader_->Read();
  EXPECT_TRUE(pass.left);
  EXPECT_TRUE(large.IsReleased());
  EXPECT_EQ(pass.watermark, time - 1);  // the next one may be right behind
  EXPECT_EQ(reader_->streams()[1]->size(), 1U);
  reader_->streams()[0]->Consume(reader_->streams()[0]->size());
  const auto again = reader_->Read();
  EXPECT_FALSE(again.left);
  EXPECT_EQ(again.watermark, 9980U);
}

TEST_F(BufferReading, NonsenseInABufferCostsOnlyWhatIsBehindIt) {
  auto buffer = gauge_.Take(0, 1, 100);
  buffer.Allocate(10, 0x1000, 1);
  buffer.Add(wire::TraceFree{20, uint64_t{99} << 56});
  buffer.Free(30, 0x1000);
  now_ = 50;
  reader_->Read();
  buffer.Free(40, 0x1000);
  reader_->Read();
  EXPECT_EQ(reader_->damaged(), 1U);
  EXPECT_EQ(Times(*reader_->streams()[0]), (std::vector<uint64_t>{10, 40}));
}

TEST_F(BufferReading, APositionOutsideOfTheBufferGivesItUp) {
  for (const uint32_t position :
       {0U, kHeader - 8, wire::kSegmentBytes + 8, 0xfffffff8U, kHeader + 4}) {
    auto buffer = gauge_.Take(0, 1, 100);
    const uint64_t before = reader_->damaged();
    buffer.header().position = position;
    reader_->Read();
    EXPECT_EQ(reader_->damaged(), before + 1) << position;
    EXPECT_TRUE(buffer.IsReleased());
  }
}

TEST_F(BufferReading, TimesNeverGoBackNorIntoTheFuture) {
  auto buffer = gauge_.Take(0, 1, 100);
  buffer.Allocate(500, 0x1000, 1);
  buffer.Free(400, 0x1000);
  buffer.Free(UINT64_MAX, 0x1000);
  reader_->Read();
  // As far as clocks of two processors may be apart.
  EXPECT_EQ(Times(*reader_->streams()[0]), (std::vector<uint64_t>{500, 500, 1020}));
}

TEST_F(BufferReading, AProgramThatTakesABufferForEverKeepsNobody) {
  auto buffer = gauge_.Take(0, 1, 100);
  std::atomic<bool> done = false;
  bool reader_waits = false;
  std::thread program([&] {
    const auto deadline = std::chrono::steady_clock::now() + kLongestTestWait;
    while (!done && !reader_waits) {
      for (int i = 0; i < 1000; ++i) std::atomic_ref(buffer.header().round).fetch_add(1);
      // A reader that waits for the program goes on when the program has given up.
      reader_waits = std::chrono::steady_clock::now() > deadline;
    }
  });
  for (int i = 0; i < 1000; ++i) reader_->Read();
  done = true;
  program.join();
  EXPECT_FALSE(reader_waits) << "the reader waits for the program";
}

TEST_F(BufferReading, AFileThatIsCutShortIsNoSignal) {
  auto buffer = gauge_.Take(0, 1, 100);
  buffer.Allocate(10, 0x1000, 1);
  ASSERT_EQ(truncate(gauge_.path().c_str(), 4096), 0);
  reader_->Read();
  EXPECT_TRUE(mapped_.was_cut());
}

TEST_F(BufferReading, EverythingCountsAtTheEnd) {
  auto open = gauge_.Take(0, 1, 100);
  open.Allocate(10, 0x1000, 1);
  open.SetOdd(true);
  const auto pass = reader_->ReadLast();
  EXPECT_EQ(pass.watermark, std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(pass.bytes, 32U);
}

// A writer that runs at the same time: nothing is lost, doubled or out of order.
TEST_F(BufferReading, KeepsUpWithAWriterOfAnotherThread) {
  constexpr uint64_t kEvents = 300'000;
  std::atomic<uint64_t> clock{1};
  BufferReader::Options options;
  options.clock = [&clock] { return clock.load() + 1; };
  reader_.emplace(&mapped_, options);
  std::atomic<bool> reader_ends{false};
  std::thread writer([&] {
    auto buffer = gauge_.Take(0, 1, 100);
    for (uint64_t i = 1; i <= kEvents; ++i) {
      if (!buffer.HasRoom()) {
        buffer.Close();
        uint32_t next = 0;
        const auto is_free = [&] {
          next = (next + 1) % 4;
          wire::TraceBufferHeader& header = gauge_.buffer(next);
          return header.round == 0 ||
                 std::atomic_ref<uint32_t>(header.released).load() == header.round;
        };
        EXPECT_TRUE(
            Eventually("the reader gives a buffer back", [&] { return reader_ends || is_free(); }));
        if (reader_ends || HasFailure()) return;
        buffer = gauge_.Take(next, 1, 100);
      }
      buffer.Free(i, i * 16);
      clock.store(i);
    }
    buffer.Close();
  });
  uint64_t read = 0;
  uint64_t wrong = 0;
  Merge merge(256);
  EXPECT_TRUE(Eventually("all events are read", [&] {
    reader_->Read();
    merge.Start(reader_->streams(), UINT64_MAX);
    for (auto batch = merge.Next(); !batch.empty(); batch = merge.Next()) {
      for (const MergedEvent& event : batch) wrong += event.time != ++read;
    }
    return read >= kEvents || wrong != 0;
  }));
  reader_ends = true;
  writer.join();
  EXPECT_EQ(wrong, 0U);
  EXPECT_EQ(read, kEvents);
  EXPECT_EQ(reader_->damaged(), 0U);
}

}  // namespace
}  // namespace heapgauge::trace
