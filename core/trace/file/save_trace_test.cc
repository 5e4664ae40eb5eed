#include "core/trace/file/save_trace.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <vector>

#include "core/trace/testing/expect_trace.h"
#include "core/trace/testing/growing_trace.h"
#include "core/trace/testing/make_trace.h"

namespace heapgauge::trace {
namespace {

using testing::MakeTrace;
using testing::TemporaryTrace;

// As a symbolizer would.
void NameAll(Profile* profile) {
  for (Location& location : profile->locations) {
    if (location.frame_count != 0) continue;
    location.first_frame = static_cast<uint32_t>(profile->frames.size());
    location.frame_count = 1;
    Function function;
    function.name = "found_" + std::to_string(location.address);
    profile->frames.push_back({static_cast<FunctionId>(profile->functions.size()), 7, false});
    profile->functions.push_back(function);
  }
}

TEST(SaveTrace, ACopyHasNamesAndAllThatWasInTheTrace) {
  for (const bool finish : {true, false}) {
    MakeTrace made;
    made.write_names = false;
    made.finish = finish;
    testing::AddRandomEvents({}, &made);
    const TemporaryTrace file;
    const TemporaryTrace copy;
    ASSERT_TRUE(made.Write(file.path()));
    const auto saved = SaveTrace(file.path(), copy.path(), NameAll);
    ASSERT_TRUE(saved) << saved.error().message;
    EXPECT_GT(saved->names.named, 50);
    EXPECT_EQ(saved->names.placed, saved->names.named);
    EXPECT_EQ(saved->names.open, 0);
    const auto trace = TraceFile::Open(copy.path());
    ASSERT_TRUE(trace) << trace.error().message;
    EXPECT_EQ((*trace)->file_bytes(), saved->bytes);
    EXPECT_EQ((*trace)->facts().complete, finish);
    testing::ExpectAllSame(made, **trace);
    const auto stacks = (*trace)->ReadStacks();
    ASSERT_TRUE(stacks);
    EXPECT_EQ((*stacks)->profile.notes.empty(), finish);
    EXPECT_EQ(saved->notes.empty(), finish);
    for (const Location& location : (*stacks)->profile.locations) {
      ASSERT_EQ(location.frame_count, 1);
      const Frame& frame = (*stacks)->profile.frames[location.first_frame];
      EXPECT_EQ((*stacks)->profile.functions[frame.function].name,
                "found_" + std::to_string(location.address));
    }
    // A copy of the copy keeps its names.
    const TemporaryTrace third;
    ASSERT_TRUE(SaveTrace(copy.path(), third.path(), [](Profile*) {}));
    const auto again = TraceFile::Open(third.path());
    ASSERT_TRUE(again);
    EXPECT_EQ((*again)->ReadStacks().value()->profile.functions.size(),
              (*stacks)->profile.functions.size());
  }
}

TEST(SaveTrace, ATraceThatIsDamagedIsNotCopied) {
  MakeTrace made;
  testing::AddRandomEvents({}, &made);
  const TemporaryTrace file;
  ASSERT_TRUE(made.Write(file.path()));
  const auto whole = TraceFile::Open(file.path());
  ASSERT_TRUE(whole);
  // The last byte of a segment is in one of its columns.
  const SegmentInfo& info = (*whole)->segments().at(1);
  const int fd = open(file.path().c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(fd, 0);
  const auto place = static_cast<off_t>(info.offset + info.bytes - 1);
  char byte = 0;
  ASSERT_EQ(pread(fd, &byte, 1, place), 1);
  byte = static_cast<char>(byte ^ 1);
  ASSERT_EQ(pwrite(fd, &byte, 1, place), 1);
  close(fd);
  const TemporaryTrace copy;
  const auto saved = SaveTrace(file.path(), copy.path(), [](Profile*) {});
  ASSERT_FALSE(saved);
  EXPECT_NE(saved.error().message.find("is damaged at byte"), std::string::npos);
  struct stat st {};
  ASSERT_EQ(stat(copy.path().c_str(), &st), 0);
  EXPECT_EQ(st.st_size, 0);
}

TEST(SaveTrace, ACopyOfOneThatIsBeingWrittenSaysSo) {
  MakeTrace made;
  testing::AddRandomEvents({}, &made);
  testing::GrowingTrace growing(made);
  growing.WriteUpTo(200);
  const TemporaryTrace copy;
  ASSERT_TRUE(SaveTrace(growing.path(), copy.path(), [](Profile*) {}));
  growing.Finish();
  const auto trace = TraceFile::Open(copy.path());
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ((*trace)->events(), 200u);
  EXPECT_FALSE((*trace)->facts().complete);
  EXPECT_FALSE((*trace)->facts().being_written);
  EXPECT_EQ((*trace)->facts().recording.state, RecordingState::kSnapshot);
  EXPECT_EQ((*trace)->facts().recording.program, made.facts.recording.program);
  EXPECT_EQ((*trace)->notes(),
            std::vector<std::string>{
                "the trace was copied while it was being written: figures are up to then"});
}

// Names take a while to be found, and what comes in between has none.
TEST(SaveTrace, ACopyHasNothingThatCameAfterItsNames) {
  for (const bool ends : {false, true}) {
    MakeTrace made;
    testing::AddRandomEvents({}, &made);
    testing::GrowingTrace growing(made);
    growing.WriteUpTo(200);
    const TemporaryTrace copy;
    const auto saved = SaveTrace(growing.path(), copy.path(), [&](Profile* profile) {
      NameAll(profile);
      ends ? growing.Finish() : growing.WriteUpTo(400);
    });
    ASSERT_TRUE(saved) << saved.error().message;
    const auto trace = TraceFile::Open(copy.path());
    ASSERT_TRUE(trace) << trace.error().message;
    EXPECT_EQ((*trace)->events(), 200u);
    EXPECT_FALSE((*trace)->facts().complete);
    EXPECT_EQ((*trace)->facts().recording.state, RecordingState::kSnapshot);
    EXPECT_TRUE((*trace)->ForEachSurvivor([](const Block&) {}));
  }
}

TEST(SaveTrace, AFolderThatIsNotThereIsTold) {
  MakeTrace made;
  const TemporaryTrace file;
  ASSERT_TRUE(made.Write(file.path()));
  const auto saved = SaveTrace(file.path(), "/no/such/folder/x.hgt", [](Profile*) {});
  ASSERT_FALSE(saved);
  EXPECT_NE(saved.error().message.find("/no/such/folder"), std::string::npos);
}

TEST(SaveTrace, APipeIsWrittenToAndStays) {
  MakeTrace made;
  const TemporaryTrace file;
  ASSERT_TRUE(made.Write(file.path()));
  const TemporaryTrace pipe;
  ASSERT_EQ(unlink(pipe.path().c_str()), 0);
  ASSERT_EQ(mkfifo(pipe.path().c_str(), 0600), 0);
  const int reader = open(pipe.path().c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ASSERT_GE(reader, 0);
  const auto saved = SaveTrace(file.path(), pipe.path(), [](Profile*) {});
  ASSERT_TRUE(saved) << saved.error().message;
  std::vector<char> bytes(1 << 16);
  EXPECT_EQ(read(reader, bytes.data(), bytes.size()), static_cast<ssize_t>(saved->bytes));
  close(reader);
  struct stat st {};
  ASSERT_EQ(stat(pipe.path().c_str(), &st), 0);
  EXPECT_TRUE(S_ISFIFO(st.st_mode));
}

}  // namespace
}  // namespace heapgauge::trace
