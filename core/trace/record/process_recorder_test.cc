#include "core/trace/record/process_recorder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <random>
#include <thread>
#include <vector>

#include "core/base/testing/eventually.h"
#include "core/base/text.h"
#include "core/gauge/gauge_control.h"
#include "core/os/process.h"
#include "core/trace/file/trace_file.h"
#include "core/trace/record/testing/traced_gauge.h"

namespace heapgauge::trace {
namespace {

using heapgauge::testing::GaugeBuilder;
using heapgauge::testing::TracedGauge;

class RecordingAProcess : public ::testing::Test {
 protected:
  RecordingAProcess()
      : start_(TakePair(wire::TraceClock::kMonotonicNs)), gauge_(8, Builder(start_.ns)) {
    path_ = gauge_.path() + ".hgt";
  }
  ~RecordingAProcess() override { std::filesystem::remove(path_); }

  static GaugeBuilder Builder(uint64_t start_ns) {
    GaugeBuilder builder;
    builder.AddModule("/bin/server", 0x1000, 0x9000);
    builder.AddStack({0x1234, 0x2345});
    builder.AddStack({0x1300, 0x2345});
    builder.header().start_monotonic_ns = start_ns;
    return builder;
  }
  void Open(const RecordOptions& options = {}) {
    auto recorder = ProcessRecorder::Open(
        gauge_.path(), start_, options,
        [this](const Facts& facts) { return TraceWriter::Create(path_, facts, {}); });
    ASSERT_TRUE(recorder) << recorder.error().message;
    recorder_ = *std::move(recorder);
  }
  std::shared_ptr<const TraceFile> Finish(RecordingState state = RecordingState::kEnded) {
    recorder_->Finish(state);
    EXPECT_FALSE(recorder_->error()) << recorder_->error()->message;
    auto file = TraceFile::Open(path_);
    EXPECT_TRUE(file) << file.error().message;
    return file ? *file : nullptr;
  }
  uint64_t Now() const { return MonotonicNow(); }
  ::testing::AssertionResult EventuallyRecords(uint64_t events) {
    return Eventually("the recorder has read the events", [&] {
      recorder_->Work(Now());
      return recorder_->totals().events >= events;
    });
  }

  ClockPair start_;
  TracedGauge gauge_;
  std::string path_;
  std::unique_ptr<ProcessRecorder> recorder_;
};

TEST_F(RecordingAProcess, WritesWhatHappenedWithItsStacksAndThreads) {
  Open();
  const auto pid = static_cast<uint32_t>(getpid());
  auto buffer = gauge_.Take(0, 1, pid);
  auto other = gauge_.Take(1, 2, pid);
  const uint64_t first = Now();
  buffer.Allocate(first, 0x5000, 100, 1);
  other.Allocate(first + 10, 0x6000, 200, 2);
  recorder_->Work(Now());
  other.Free(Now(), 0x5000);
  const auto file = Finish();
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(file->events(), 3U);
  ASSERT_EQ(file->threads().size(), 2U);
  EXPECT_EQ(file->threads()[0].id, pid);
  EXPECT_NE(file->threads()[0].name, "");
  EXPECT_EQ(file->threads()[1].first_ns, first + 10 - start_.ns);
  EXPECT_TRUE(file->facts().complete);
  EXPECT_FALSE(file->memory().empty());
  std::vector<Block> survivors;
  ASSERT_TRUE(file->ForEachSurvivor([&](const Block& block) { survivors.push_back(block); }));
  ASSERT_EQ(survivors.size(), 1U);
  EXPECT_EQ(survivors[0].size, 200U);
  EXPECT_EQ(survivors[0].stack, 2U);
  EXPECT_EQ(survivors[0].birth_ns, first + 10 - start_.ns);
  const auto stacks = file->ReadStacks();
  ASSERT_TRUE(stacks) << stacks.error().message;
  ASSERT_GE((*stacks)->stacks.size(), 3U);
  EXPECT_NE((*stacks)->stacks[2].leaf, kNone);
}

// An hour is made of the recorder's clock, not waited for.
TEST_F(RecordingAProcess, KeepsLittleBackForLongerTheLongerItRuns) {
  constexpr uint64_t kSecond = 1'000'000'000;
  Open();
  auto buffer = gauge_.Take(0, 1, static_cast<uint32_t>(getpid()));
  const auto written = [this] { return (*TraceFile::Open(path_))->events(); };
  uint64_t now = Now();
  buffer.Allocate(now, 0x5000, 100, 1);
  recorder_->Work(now + kSecond / 2);
  EXPECT_EQ(written(), 0U);
  recorder_->Work(now + 2 * kSecond);
  EXPECT_EQ(written(), 1U);
  now += 3600 * kSecond;
  recorder_->Work(now);
  buffer.Free(Now(), 0x5000);
  recorder_->Work(now + 9 * kSecond);
  EXPECT_EQ(written(), 1U);
  recorder_->Work(now + 11 * kSecond);
  EXPECT_EQ(written(), 2U);
}

TEST_F(RecordingAProcess, TellsHowLongAProgramHasRunThatDoesNothing) {
  constexpr uint64_t kSecond = 1'000'000'000;
  Open();
  auto buffer = gauge_.Take(0, 1, static_cast<uint32_t>(getpid()));
  const uint64_t now = Now();
  buffer.Allocate(now, 0x5000, 100, 1);
  recorder_->Work(now + 2 * kSecond);
  recorder_->Work(now + 60 * kSecond);
  auto trace = TraceFile::Open(path_);
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ((*trace)->events(), 1U);
  EXPECT_EQ((*trace)->end_ns(), now + 60 * kSecond - start_.ns);
  // It ends when it ends.
  EXPECT_LT(Finish()->end_ns(), 60 * kSecond);
}

TEST_F(RecordingAProcess, WritesWhatItHasWhenAsked) {
  Open();
  auto control = GaugeControl::Open(gauge_.path());
  ASSERT_TRUE(control) << control.error().message;
  const auto written = [this] { return (*TraceFile::Open(path_))->events(); };
  auto buffer = gauge_.Take(0, 1, static_cast<uint32_t>(getpid()));
  const uint64_t now = Now();
  buffer.Allocate(now, 0x5000, 100, 1);
  ASSERT_TRUE(control->RequestTrace());
  EXPECT_FALSE(control->WaitForTrace(0));
  recorder_->Work(now);
  EXPECT_TRUE(control->WaitForTrace(0));
  EXPECT_EQ(written(), 1U);
  // Once for each time it is asked, and not all the time.
  buffer.Free(Now(), 0x5000);
  recorder_->Work(now + 1);
  EXPECT_EQ(written(), 1U);
  ASSERT_TRUE(control->RequestTrace());
  recorder_->Work(now + 2);
  EXPECT_FALSE(control->WaitForTrace(0));
  recorder_->Work(now + 1'000'000'000 / 2);
  EXPECT_TRUE(control->WaitForTrace(0));
  EXPECT_EQ(written(), 2U);
}

TEST_F(RecordingAProcess, AThreadThatIsGoneHasTheNameOfItsFirstEvent) {
  Open();
  auto buffer = gauge_.Take(0, 1, 0x7fff'ffff);
  constexpr char kName[16] = "worker\x01of 15";
  std::memcpy(gauge_.buffer(0).name, kName, sizeof kName);
  buffer.Allocate(Now(), 0x5000, 100, 1);
  const auto file = Finish();
  ASSERT_NE(file, nullptr);
  ASSERT_EQ(file->threads().size(), 1U);
  EXPECT_EQ(file->threads()[0].name, Printable("worker\x01of 15"));
}

TEST_F(RecordingAProcess, AStackThatIsNotThereIsUnknown) {
  Open();
  auto buffer = gauge_.Take(0, 1, 1);
  buffer.Allocate(Now(), 0x5000, 100, 77);
  const auto file = Finish();
  ASSERT_NE(file, nullptr);
  ASSERT_TRUE(file->ForEachSurvivor([](const Block& block) { EXPECT_EQ(block.stack, 0U); }));
}

TEST_F(RecordingAProcess, CountsWhatTheProgramCounted) {
  Open();
  gauge_.header().trace.lost = 5;
  gauge_.header().trace.waits = 6;
  gauge_.header().trace.waited_ns = 7;
  auto buffer = gauge_.Take(0, 1, 1);
  buffer.Free(Now(), 0x5000);
  const auto file = Finish(RecordingState::kKilled);
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(file->facts().lost_events, 5U);
  EXPECT_EQ(file->facts().waits, 6U);
  EXPECT_EQ(file->facts().waited_ns, 7U);
  EXPECT_EQ(file->facts().unknown_frees, 1U);
  EXPECT_EQ(file->facts().recording.state, RecordingState::kKilled);
}

TEST_F(RecordingAProcess, OneThatExecutedAnotherProgramLastedUntilThat) {
  Open();
  const uint64_t seen_ns = gauge_.header().start_monotonic_ns + 3'600'000'000'000;
  recorder_->Finish(RecordingState::kReplaced, seen_ns);
  const auto file = TraceFile::Open(path_);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ((*file)->facts().recording.state, RecordingState::kReplaced);
  EXPECT_EQ((*file)->facts().recording.duration_ns, 3'600'000'000'000U);
}

TEST_F(RecordingAProcess, SomethingIsOnDiskBeforeTheEnd) {
  Open();
  auto buffer = gauge_.Take(0, 1, 1);
  for (uint64_t i = 1; i <= 1500; ++i) buffer.Allocate(Now(), i * 64, 10, 1);
  // An event may be held for some microseconds after its time.
  ASSERT_TRUE(EventuallyRecords(1500));
  recorder_->Work(Now() + 2'000'000'000);
  const auto file = TraceFile::Open(path_);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ((*file)->events(), 1500U);
  EXPECT_FALSE((*file)->facts().complete);
  recorder_->Finish(RecordingState::kEnded);
}

TEST_F(RecordingAProcess, EmptiesTheBuffersEvenIfNothingCanBeWritten) {
  auto recorder = ProcessRecorder::Open(gauge_.path(), start_, {},
                                        [](const Facts&) -> Result<std::unique_ptr<TraceWriter>> {
                                          return Fail(ErrorCode::kIo, "no disk");
                                        });
  ASSERT_TRUE(recorder);
  for (int i = 0; i < 100; ++i) {
    auto buffer = gauge_.Take(0, 1, 1);
    while (buffer.HasRoom()) buffer.Allocate(Now(), 0x5000, 10, 1);
    buffer.Close();
    (*recorder)->Work(Now());
    ASSERT_TRUE(buffer.IsReleased());
  }
  (*recorder)->Finish(RecordingState::kEnded);
  ASSERT_TRUE((*recorder)->error());
  EXPECT_EQ((*recorder)->error()->message, "no disk");
}

// One that does not know the word for it, and fills buffers as quickly as they are released.
TEST_F(RecordingAProcess, StopsWhileTheProgramGoesOnAndOn) {
  Open();
  std::atomic<bool> ends = false;
  std::atomic<uint64_t> rounds = 0;
  std::vector<std::thread> threads;
  for (uint32_t index = 0; index < 4; ++index) {
    threads.emplace_back([&, index] {
      while (!ends) {
        auto buffer = gauge_.Take(index, index + 1, index + 1);
        for (uint64_t i = 1; buffer.HasRoom(); ++i) {
          buffer.Allocate(Now(), (uint64_t{index} << 32) + i * 64, 10, 1);
        }
        buffer.Close();
        ++rounds;
        while (!ends && !buffer.IsReleased()) std::this_thread::yield();
      }
    });
  }
  EXPECT_TRUE(Eventually("the recorder releases buffers", [&] {
    recorder_->Work(Now());
    return rounds >= 20;
  }));
  const uint64_t before = Now();
  const auto file = Finish(RecordingState::kSnapshot);
  ends = true;
  for (std::thread& thread : threads) thread.join();
  ASSERT_NE(file, nullptr);
  EXPECT_GT(file->events(), 20'000U);
  // Up to the moment at which we stopped, and nothing from after it.
  EXPECT_GE(file->facts().recording.duration_ns, before - start_.ns);
  uint64_t last_ns = 0;
  Segment segment;
  for (size_t i = 0; i < file->segments().size(); ++i) {
    ASSERT_TRUE(file->ReadSegment(i, kEverything, &segment));
    for (const auto& event : segment.events) last_ns = std::max(last_ns, event.time_ns);
  }
  EXPECT_LE(last_ns, file->facts().recording.duration_ns);
}

TEST_F(RecordingAProcess, TellsAProgramThatGoesOnThatNobodyRecordsIt) {
  Open();
  const uint32_t releases = gauge_.header().trace.releases;
  EXPECT_EQ(gauge_.header().trace_over, 0U);
  recorder_->Stop();
  EXPECT_EQ(gauge_.header().trace_over, 1U);
  EXPECT_NE(gauge_.header().trace.releases, releases);
  Finish(RecordingState::kSnapshot);
  EXPECT_EQ(gauge_.header().trace_over, 1U);
}

// Its forked children look at the same word.
TEST_F(RecordingAProcess, TellsNothingToOneThatIsGone) {
  Open();
  Finish(RecordingState::kKilled);
  EXPECT_EQ(gauge_.header().trace_over, 0U);
}

TEST_F(RecordingAProcess, RefusesAProgramThatDoesNotTrace) {
  gauge_.header().trace.max_buffers = 0;
  const auto recorder = ProcessRecorder::Open(
      gauge_.path(), start_, {},
      [this](const Facts& facts) { return TraceWriter::Create(path_, facts, {}); });
  EXPECT_FALSE(recorder);
  EXPECT_FALSE(std::filesystem::exists(path_));
}

// Whatever a program writes into its own file, we end with a trace that can be read.
TEST_F(RecordingAProcess, AnythingInTheBuffersEndsInAValidTrace) {
  Open();
  std::mt19937_64 random(19);
  for (int round = 0; round < 300; ++round) {
    const auto index = static_cast<uint32_t>(random() % 8);
    wire::TraceBufferHeader& header = gauge_.buffer(index);
    auto buffer = gauge_.Take(index, random() % 20, static_cast<uint32_t>(random() % 5));
    while (buffer.HasRoom() && random() % 500 != 0) {
      wire::TraceAllocation event;
      // Kinds that there are, and some that there are not; few addresses, and wild ones.
      const auto kind =
          static_cast<wire::TraceEventKind>(random() % (random() % 50 == 0 ? 256 : 8));
      const uint64_t address = random() % 10 == 0 ? random() : random() % 300 * 4096;
      event.time = random() % 5 == 0 ? random() : Now();
      event.what = wire::PackTraceWhat(kind, address);
      event.size = random() % 10 == 0 ? random() : random() % 50'000;
      event.stack = static_cast<uint32_t>(random() % 10 == 0 ? random() : random() % 4);
      event.slack = static_cast<uint16_t>(random());
      event.function = static_cast<uint8_t>(random());
      event.alignment_log2 = static_cast<uint8_t>(random());
      if (wire::TraceEventBytes(kind) == sizeof event) {
        buffer.Add(event);
      } else {
        buffer.Add(wire::TraceFree{event.time, event.what});
      }
    }
    if (random() % 10 == 0) header.position = static_cast<uint32_t>(random() % 100'000);
    if (random() % 3 != 0) buffer.Close();
    if (random() % 20 == 0) header.token = random();
    recorder_->Work(Now());
  }
  EXPECT_GT(recorder_->damaged(), 0U);
  const auto file = Finish();
  ASSERT_NE(file, nullptr);
  EXPECT_GT(file->events(), 1000U);
  Segment segment;
  uint64_t events = 0;
  for (size_t i = 0; i < file->segments().size(); ++i) {
    const Status status = file->ReadSegment(i, kEverything, &segment);
    ASSERT_TRUE(status) << status.error().message;
    events += segment.events.size();
  }
  EXPECT_EQ(events, file->events());
}

TEST_F(RecordingAProcess, AFileCutShortEndsInAValidTrace) {
  Open();
  auto buffer = gauge_.Take(0, 1, 1);
  for (uint64_t i = 1; i <= 100; ++i) buffer.Allocate(Now(), i * 64, 10, 1);
  ASSERT_TRUE(EventuallyRecords(100));
  ASSERT_EQ(truncate(gauge_.path().c_str(), 4096), 0);
  recorder_->Work(Now());
  const auto file = Finish();
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(file->events(), 100U);
}

}  // namespace
}  // namespace heapgauge::trace
