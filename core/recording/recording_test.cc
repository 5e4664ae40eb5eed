#include "core/recording/recording.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace heapgauge {
namespace {

class RecordingTest : public ::testing::Test {
 protected:
  RecordingTest() {
    char name[] = "/tmp/heapgauge-recording-XXXXXX";
    directory_ = mkdtemp(name);
  }
  ~RecordingTest() override { std::filesystem::remove_all(directory_); }

  std::string Write(const std::string& name, const std::string& bytes) {
    const std::string path = directory_ + "/" + name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }

  std::string directory_;
};

TEST_F(RecordingTest, IsWhatItsFirstBytesSay) {
  const std::string path = Write("named.hgt", "main;f;g 12\n");
  auto recording = Recording::Open(path);
  ASSERT_TRUE(recording.has_value()) << recording.error().message;
  EXPECT_EQ(recording->format(), ProfileFormat::kCollapsed);
  EXPECT_TRUE(recording->is_file());
  EXPECT_FALSE(recording->is_trace());
  EXPECT_EQ(recording->spec(), path);
  EXPECT_EQ(recording->moment(), "");
  EXPECT_EQ(FormatAt(path), ProfileFormat::kCollapsed);
  EXPECT_EQ(FormatAt(directory_), ProfileFormat::kUnknown);
}

TEST_F(RecordingTest, CanBeReadMoreThanOnce) {
  auto recording = Recording::OpenFile(Write("stacks", "main;f;g 12\n"));
  ASSERT_TRUE(recording.has_value());
  for (int i = 0; i < 2; ++i) {
    const auto profile = recording->ReadProfile();
    ASSERT_TRUE(profile.has_value()) << profile.error().message;
    EXPECT_EQ(profile->rows.size(), 1U);
  }
}

TEST_F(RecordingTest, SaysWhyItHasNoEventsAndNoSnapshots) {
  const std::string path = Write("stacks", "main;f;g 12\n");
  auto recording = Recording::OpenFile(path);
  ASSERT_TRUE(recording.has_value());
  const auto trace = recording->Trace();
  ASSERT_FALSE(trace.has_value());
  EXPECT_EQ(trace.error().message,
            path +
                ": a collapsed stacks does not know moments, ranges and single blocks; record a "
                "trace: heapgauge run --trace -o FILE.hgt -- COMMAND");
  const auto massif = recording->Massif();
  ASSERT_FALSE(massif.has_value());
  EXPECT_EQ(massif.error().message, path + ": a collapsed stacks has no snapshots of massif's");
}

TEST_F(RecordingTest, TakesWhatIsBehindAnAtSignForAMomentUnlessAFileHasThatName) {
  const std::string path = Write("stacks", "main;f 12\n");
  EXPECT_TRUE(NamesMoment(path + "@5s"));
  EXPECT_FALSE(NamesMoment(path));
  EXPECT_FALSE(NamesMoment(directory_ + "/none@5s"));
  auto recording = Recording::Open(path + "@1s..2s");
  ASSERT_TRUE(recording.has_value());
  EXPECT_EQ(recording->path(), path);
  EXPECT_EQ(recording->moment(), "1s..2s");
  EXPECT_FALSE(recording->ReadProfile().has_value()) << "no moments in it";
  Write("stacks@1s..2s", "main;f 3\n");
  EXPECT_FALSE(NamesMoment(path + "@1s..2s"));
  EXPECT_TRUE(Recording::Open(path + "@1s..2s")->ReadProfile().has_value());
  EXPECT_TRUE(CheckWhole(path, "stop").has_value());
  EXPECT_EQ(CheckWhole(path + "@5s", "stop").error().message,
            "'" + path +
                "@5s' is a moment or range of a file, and the whole is needed here: name the file, "
                "and stop");
}

TEST_F(RecordingTest, AMomentIsNamedOnce) {
  auto recording = Recording::Open(Write("stacks", "main;f 12\n") + "@peak");
  ASSERT_TRUE(recording.has_value());
  ReadOptions options;
  options.question.at = "end";
  const auto profile = recording->ReadProfile(options);
  ASSERT_FALSE(profile.has_value());
  EXPECT_NE(profile.error().message.find("@peak' names a moment or range already"),
            std::string::npos);
}

TEST_F(RecordingTest, OpensEachInTheOrderInWhichTheyAreNamed) {
  const std::string first = Write("first", "main;f 12\n");
  const std::string none = directory_ + "/none";
  std::vector<std::string> seen;
  Recording::OpenEach({first, none}, {}, [&](Result<Recording> opened) {
    seen.push_back(opened ? opened->path() : opened.error().message);
  });
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0], first);
  EXPECT_EQ(seen[1], "there is no file '" + none +
                         "', and it is not a PID; heapgauge ps lists what is profiled");
  std::vector<std::string> meant;
  const auto merged = ReadMerged({first, first}, {}, {}, &meant);
  ASSERT_TRUE(merged.has_value());
  EXPECT_EQ(meant, (std::vector<std::string>{first, first}));
  EXPECT_FALSE(ReadMerged({first, none}, {}, {}).has_value());
}

TEST_F(RecordingTest, OfADirectoryOneGaugeFileIsMeant) {
  EXPECT_EQ(
      LocateFile(directory_).error().message,
      "'" + directory_ + "' holds no gauge files (*.hg); heapgauge ps lists what is profiled");
  const std::string first = Write("first.hg", "");
  EXPECT_EQ(*LocateFile(directory_), first);
  Write("second.hg", "");
  EXPECT_EQ(LocateFile(directory_).error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace heapgauge
