#include "core/gauge/gauge_control.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "core/gauge/gauge_directory.h"
#include "core/gauge/gauge_reader.h"
#include "core/gauge/testing/gauge_builder.h"
#include "core/os/process.h"

namespace heapgauge {
namespace {

using testing::GaugeBuilder;

class GaugeFileTest : public ::testing::Test {
 protected:
  GaugeFileTest() {
    std::string pattern = ::testing::TempDir() + "heapgauge.XXXXXX";
    dir_ = mkdtemp(pattern.data());
    path_ = dir_ + "/server.1.hg";
  }
  ~GaugeFileTest() override { std::filesystem::remove_all(dir_); }

  wire::Header Header() const {
    wire::Header header{};
    const auto file = File::OpenForReading(path_);
    if (file) file->ReadAt(0, &header, sizeof header);
    return header;
  }

  std::string dir_;
  std::string path_;
};

TEST_F(GaugeFileTest, EachChangeIsAnnounced) {
  GaugeBuilder b;
  b.WriteTo(path_);
  auto control = GaugeControl::Open(path_);
  ASSERT_TRUE(control);
  ASSERT_TRUE(control->SetActive(false));
  EXPECT_EQ(Header().control.active, 0u);
  EXPECT_EQ(Header().control.generation, 1u);
  ASSERT_TRUE(control->SetInterval(4096));
  EXPECT_EQ(Header().control.interval, 4096u);
  ASSERT_TRUE(control->SetMaxSamplesPerSecond(10));
  EXPECT_EQ(Header().control.max_samples_per_second, 10u);
  ASSERT_TRUE(control->RequestReset());
  ASSERT_TRUE(control->RequestReset());
  EXPECT_EQ(Header().control.reset_requests, 2u);
  EXPECT_EQ(Header().control.generation, 5u);
  EXPECT_FALSE(control->SetInterval(0));
  EXPECT_FALSE(control->SetInterval(wire::kMaxIntervalBytes + 1));
  EXPECT_EQ(Header().control.generation, 5u) << "a refused change is not announced";
}

TEST_F(GaugeFileTest, WaitsForTheProgramToSeeIt) {
  GaugeBuilder b;
  b.WriteTo(path_);
  auto control = GaugeControl::Open(path_);
  ASSERT_TRUE(control);
  ASSERT_TRUE(control->SetActive(false));
  EXPECT_FALSE(control->WaitUntilSeen(20));
  const auto file = File::OpenForUpdate(path_);
  const uint32_t seen = 1;
  ASSERT_TRUE(file->WriteAt(offsetof(wire::Header, seen_generation), &seen, sizeof seen));
  EXPECT_TRUE(control->WaitUntilSeen(20));
}

TEST_F(GaugeFileTest, TicksFillTheRingsLikeTheFormatSays) {
  GaugeBuilder b;
  b.header().totals.live_bytes = 99;
  b.header().start_monotonic_ns = 0;
  b.WriteTo(path_);
  auto ticker = GaugeTicker::Open(path_);
  ASSERT_TRUE(ticker);
  EXPECT_EQ(ticker->pid(), static_cast<uint32_t>(getpid()));
  constexpr uint64_t kTicks = 600;
  for (uint64_t i = 1; i <= kTicks; ++i) {
    const auto ticked = ticker->Tick(1000 + i, i * wire::kTickNs);
    ASSERT_TRUE(ticked);
    ASSERT_TRUE(*ticked) << i;
    ASSERT_FALSE(*ticker->Tick(5, i * wire::kTickNs + wire::kTickNs / 2)) << "too early";
  }
  EXPECT_EQ(Header().timeline_ticks, kTicks);
  EXPECT_EQ(Header().last_tick_ns, kTicks * wire::kTickNs);
  const auto profile = ReadGaugeFile(path_);
  ASSERT_TRUE(profile);
  // Level 0 keeps the last 256 ticks, level 1 every 16th from the first on, level 2 every 256th.
  size_t old = 0;
  for (const TimelinePoint& point : profile->timeline) {
    const uint64_t tick = point.time_ns / wire::kTickNs - 1;
    EXPECT_EQ(point.live_bytes, 99u);
    EXPECT_EQ(point.resident_bytes, 1001 + tick);
    if (tick < kTicks - wire::kTimelineSlots) {
      ++old;
      EXPECT_EQ(tick % 16, 0u);
    }
  }
  EXPECT_EQ(old, (kTicks - wire::kTimelineSlots + 15) / 16);
  EXPECT_EQ(profile->timeline.size(), wire::kTimelineSlots + old);
}

TEST_F(GaugeFileTest, AFileThatWasCutIsAnErrorNotASignal) {
  GaugeBuilder b;
  b.header().start_monotonic_ns = 0;
  b.WriteTo(path_);
  auto ticker = GaugeTicker::Open(path_);
  ASSERT_TRUE(ticker);
  ASSERT_TRUE(ticker->Tick(1, wire::kTickNs));
  ASSERT_EQ(truncate(path_.c_str(), 100), 0);
  EXPECT_FALSE(ticker->Tick(1, 5 * wire::kTickNs));
}

TEST_F(GaugeFileTest, DirectoriesAreListedAndPidsFound) {
  GaugeBuilder b;
  b.WriteTo(path_);
  ASSERT_TRUE(WriteWholeFile(dir_ + "/other.txt", "x"));
  ASSERT_TRUE(WriteWholeFile(dir_ + "/junk.2.hg", "x"));
  ASSERT_TRUE(WriteWholeFile(dir_ + "/junk.2.hg.1", "x"));
  const auto files = ListGaugeFiles(dir_);
  ASSERT_TRUE(files);
  EXPECT_EQ(*files, (std::vector<std::string>{dir_ + "/junk.2.hg", dir_ + "/junk.2.hg.1", path_}));
  setenv("HEAPGAUGE_DIR", dir_.c_str(), 1);
  EXPECT_EQ(GaugeDirectories().front(), dir_);
  EXPECT_EQ(FindGaugeOf(static_cast<uint32_t>(getpid())).value_or(""), path_);
  const auto gone = FindGaugeOf(0x7fffffff);
  ASSERT_FALSE(gone);
  EXPECT_NE(gone.error().message.find("no process"), std::string::npos);
  const auto not_profiled = FindGaugeOf(1);
  ASSERT_FALSE(not_profiled);
  EXPECT_NE(not_profiled.error().message.find("no gauge file of process 1 "), std::string::npos);
  unsetenv("HEAPGAUGE_DIR");
  EXPECT_FALSE(ListGaugeFiles(dir_ + "/none"));
}

TEST_F(GaugeFileTest, NamesAreThoseTheAgentGives) {
  for (const char* name : {"a.1.hg", "a.1.hg.2", "x.hg", "a.hg.hg"})
    EXPECT_TRUE(IsGaugeFileName(name)) << name;
  for (const char* name : {"", ".hg", "a.1", "hg", "a.hgt", "1.2.3", "a.hg.x", "12"}) {
    EXPECT_FALSE(IsGaugeFileName(name)) << name;
  }
}

TEST_F(GaugeFileTest, AProcessThatExecutedAnotherProgramWasNotKilled) {
  GaugeBuilder b;
  b.header().pid = 0x7ffffff0;
  const std::string first = dir_ + "/sh.2147483632.hg";
  b.WriteTo(first);
  EXPECT_EQ(ReadGaugeFile(first)->recording.state, RecordingState::kKilled);
  b.header().start_realtime_ns += 5;
  const std::string second = dir_ + "/server.2147483632.hg";
  b.WriteTo(second);
  EXPECT_EQ(ReadGaugeFile(first)->recording.state, RecordingState::kReplaced);
  EXPECT_EQ(ReadGaugeFile(second)->recording.state, RecordingState::kKilled);
}

}  // namespace
}  // namespace heapgauge
