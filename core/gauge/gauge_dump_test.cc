#include "core/gauge/gauge_dump.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/gauge/gauge_directory.h"
#include "core/gauge/gauge_facts.h"
#include "core/gauge/gauge_reader.h"
#include "core/gauge/testing/gauge_builder.h"
#include "core/gauge/testing/own_gauge.h"

namespace heapgauge {
namespace {

using testing::GaugeBuilder;

class GaugeDump : public ::testing::Test {
 protected:
  GaugeDump() {
    std::string pattern = ::testing::TempDir() + "heapgauge.XXXXXX";
    dir_ = mkdtemp(pattern.data());
    path_ = dir_ + "/server.1.hg";
    place_.directory = dir_;
  }
  ~GaugeDump() override { std::filesystem::remove_all(dir_); }

  size_t FilesInDirectory() const {
    const std::filesystem::directory_iterator begin(dir_);
    return static_cast<size_t>(std::distance(begin, std::filesystem::directory_iterator()));
  }

  const testing::ScratchGauge own_;
  std::string dir_;
  std::string path_;
  DumpPlace place_;
};

TEST_F(GaugeDump, ReadsLikeTheOriginal) {
  GaugeBuilder b;
  const uint32_t stack = b.AddStack({0x1000, 0x2000});
  b.AddLive(stack, 100);
  b.AddLive(stack, 200).state = 5;  // being written
  b.AddTick(5, 6);
  b.AddPeak(stack, 1 << 20);
  b.WriteTo(path_);
  const std::string copy = dir_ + "/copy.hg";
  const auto status = DumpGauge(path_, copy);
  ASSERT_TRUE(status) << status.error().message;
  const auto profile = ReadGaugeFile(copy);
  ASSERT_TRUE(profile) << profile.error().message;
  ASSERT_EQ(profile->blocks.size(), 1u);
  EXPECT_EQ(profile->blocks[0].size, 100u);
  EXPECT_EQ(profile->recording.unreadable_records, 0u)
      << "what was half-written is not in the copy";
  EXPECT_EQ(profile->timeline.size(), 1u);
  GaugeReadOptions peak;
  peak.peak = true;
  EXPECT_TRUE(ReadGaugeFile(copy, peak));
  EXPECT_FALSE(DumpGauge(dir_ + "/none", copy));
  EXPECT_FALSE(DumpGauge("/etc/passwd", copy));
}

TEST_F(GaugeDump, OfADeadProgramStillSaysHowItEnded) {
  GaugeBuilder b;
  b.header().ended_ns = 185'000'000'000;
  b.WriteTo(path_);
  ASSERT_TRUE(DumpGauge(path_, dir_ + "/copy.hg"));
  const auto profile = ReadGaugeFile(dir_ + "/copy.hg");
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_EQ(profile->recording.state, RecordingState::kEnded);
  EXPECT_FALSE(profile->recording.is_dump);
}

TEST_F(GaugeDump, SaysWhenAndWhyItWasMade) {
  GaugeBuilder b;
  b.header().last_tick_ns = 185'000'000'000;
  b.header().dump.sequence = 4;
  b.WriteTo(path_);
  ASSERT_TRUE(DumpGauge(path_, dir_ + "/copy.hg", wire::DumpReason::kTime));
  const auto profile = ReadGaugeFile(dir_ + "/copy.hg");
  ASSERT_TRUE(profile) << profile.error().message;
  const RecordingFacts& r = profile->recording;
  EXPECT_EQ(r.state, RecordingState::kSnapshot);
  EXPECT_TRUE(r.is_dump);
  EXPECT_EQ(r.dump.sequence, 5u);
  EXPECT_EQ(r.dump.reason, "time");
  EXPECT_EQ(r.dump.time_ns, 185'000'000'000u);
  EXPECT_EQ(r.duration_ns, 185'000'000'000u);
}

TEST_F(GaugeDump, NamesTellProgramPidSequenceAndReason) {
  GaugeBuilder b;
  b.WriteTo(path_);
  const auto owner = ReadOwner(path_);
  ASSERT_TRUE(owner);
  const auto summary = ReadGaugeSummary(path_);
  const std::string program(
      summary->recording.program.substr(summary->recording.program.rfind('/') + 1));
  const std::string start = dir_ + "/" + program + "." + std::to_string(owner->pid);
  EXPECT_EQ(DumpGaugeTo(path_, place_, wire::DumpReason::kRequest), start + ".0001.request.hg");
  EXPECT_EQ(DumpGaugeTo(path_, place_, wire::DumpReason::kRequest), start + ".0002.request.hg");
  place_.prefix = dir_ + "/x";
  EXPECT_EQ(DumpGaugeTo(path_, place_, wire::DumpReason::kLimit), dir_ + "/x.0001.hg");
  EXPECT_EQ(DumpGaugeTo(path_, place_, wire::DumpReason::kLimit), dir_ + "/x.0002.hg");
  EXPECT_EQ(FilesInDirectory(), 5u) << "nothing else is left behind";
}

TEST_F(GaugeDump, NothingIsOverwritten) {
  GaugeBuilder b;
  b.WriteTo(path_);
  place_.prefix = dir_ + "/x";
  std::ofstream(dir_ + "/x.0001.hg") << "mine";
  EXPECT_EQ(DumpGaugeTo(path_, place_, wire::DumpReason::kTime), dir_ + "/x.0002.hg");
  EXPECT_EQ(std::filesystem::file_size(dir_ + "/x.0001.hg"), 4u);
}

TEST_F(GaugeDump, ACopyOfACopyStaysWhatItIs) {
  GaugeBuilder b;
  b.WriteTo(path_);
  const auto first = DumpGaugeTo(path_, place_, wire::DumpReason::kLimit);
  ASSERT_TRUE(first);
  ASSERT_TRUE(DumpGauge(*first, dir_ + "/second.hg"));
  const auto profile = ReadGaugeFile(dir_ + "/second.hg");
  ASSERT_TRUE(profile);
  EXPECT_EQ(profile->recording.dump.reason, "limit");
}

TEST_F(GaugeDump, IsNobodysGaugeFile) {
  GaugeBuilder b;
  b.WriteTo(path_);
  const auto copy = DumpGaugeTo(path_, place_, wire::DumpReason::kRequest);
  ASSERT_TRUE(copy);
  const auto owner = ReadOwner(*copy);
  ASSERT_TRUE(owner);
  EXPECT_TRUE(owner->is_copy);
  EXPECT_FALSE(OwnerRuns(*owner));
  ASSERT_EQ(setenv("HEAPGAUGE_DIR", dir_.c_str(), 1), 0);
  EXPECT_EQ(FindGaugeOf(owner->pid), path_);
  std::filesystem::remove(path_);
  EXPECT_FALSE(FindGaugeOf(owner->pid));
  unsetenv("HEAPGAUGE_DIR");
}

TEST_F(GaugeDump, AMissingDirectoryIsAnError) {
  GaugeBuilder b;
  b.WriteTo(path_);
  place_.directory = dir_ + "/none";
  EXPECT_FALSE(DumpGaugeTo(path_, place_, wire::DumpReason::kRequest));
}

}  // namespace
}  // namespace heapgauge
