// What `heapgauge run --trace` says, and what it refuses.

#include <sys/stat.h>

#include <filesystem>

#include "core/base/file.h"
#include "core/trace/file/trace_file.h"
#include "core/trace/record/trace_writer.h"
#include "tests/trace/record/traced_run_fixture.h"

namespace heapgauge::testing {
namespace {

TEST_F(TracedRun, NamesTheFileAfterTheProgramIfNotTold) {
  const Outcome outcome = Command({"/bin/sh", "-c",
                                   "cd '" + scratch_.path() + "' && exec '" + HEAPGAUGE_PROGRAM +
                                       "' run --trace --dir '" + (scratch_ / "gauge") + "' -- '" +
                                       Target("exec_self") + "' 0"})
                              .Wait();
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  ASSERT_EQ(Traces().size(), 1U) << outcome.err;
  EXPECT_EQ(Traces()[0].find(scratch_ / "exec_self."), 0U);
}

TEST_F(TracedRun, SaysWhyNoCallOfAProgramIsSeen) {
  const std::string program = Target("doctor/patient_own_malloc");
  for (const char* quiet : {"", "--quiet"}) {
    std::vector<std::string> options = {"-o", scratch_ / "own.hgt"};
    if (*quiet != 0) options.emplace_back(quiet);
    const Outcome outcome = Run(options, {program});
    EXPECT_EQ(outcome.code, 0);
    EXPECT_NE(outcome.err.find("has a malloc of its own inside"), std::string::npos) << outcome.err;
  }
}

TEST_F(TracedRun, SaysNothingIfQuiet) {
  const Outcome outcome = Run({"-o", scratch_ / "x.hgt", "--quiet"}, {Target("exec_self"), "0"});
  EXPECT_EQ(outcome.err, "");
}

TEST_F(TracedRun, RefusesWhatMakesNoSense) {
  const std::string notes = scratch_ / "notes.txt";
  ASSERT_TRUE(WriteWholeFile(notes, "precious"));
  const std::string pipe = scratch_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const std::string written = scratch_ / "written.hgt";
  const auto writer = trace::TraceWriter::Create(written, {}, {}, false);
  ASSERT_TRUE(writer);
  struct Case {
    std::vector<std::string> options;
    std::string message;
  };
  const Case cases[] = {
      {{"--trace", "--sample", "1K"}, "--sample does not go with --trace"},
      {{"--trace", "--http", "127.0.0.1:0"}, "--http does not go with --trace"},
      {{"--trace", "--dump-exit"}, "--dump-... does not go with --trace"},
      {{"--trace", "--cull-below", "fast"}, "--cull-below: 'fast' is not a time"},
      {{"--trace", "--cull-below", "10"}, "--cull-below: '10' is not a time"},
      {{"--trace", "--trace-buffer", "1K"}, "--trace-buffer: from 1M to 256M"},
      {{"--trace", "-o", "/no/such/directory/x.hgt"}, "cannot write the trace into"},
      {{"--trace", "-o", "/tmp"}, "is a directory"},
      {{"--trace", "-o", "-"}, "cannot go to standard output"},
      {{"--trace", "-o", notes}, "is there and is no trace"},
      {{"--trace", "-o", pipe}, "is a pipe"},
      {{"--trace", "-o", written}, "is being written by another recorder"},
      {{"--trace", "-o", ""}, "--output: is empty"},
      {{"--trace", "--cull-below", ""}, "--cull-below: is empty"},
      {{"--trace", "--frames", "3"}, "--frames goes with --leaks"},
      {{"--trace", "--new"}, "--new goes with --leaks"},
      {{"--trace", "--insecure"}, "--http does not go with --trace"},
      {{"--drop"}, "--drop goes with --trace"},
      {{"--cull-below", "1ms"}, "--cull-below goes with --trace"},
  };
  for (const Case& one : cases) {
    std::vector<std::string> words = {"run"};
    words.insert(words.end(), one.options.begin(), one.options.end());
    words.insert(words.end(), {"--", "true"});
    const Outcome outcome = Heapgauge(words);
    EXPECT_EQ(outcome.code, 2) << one.message;
    EXPECT_NE(outcome.err.find(one.message), std::string::npos) << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
  EXPECT_EQ(ReadWholeFile(notes, 100).value_or(""), "precious");
}

// The recorder maps all that a program may ever write. Without the addresses for that it would only
// hold the program up.
TEST_F(TracedRun, RefusesToStartWithoutAddressesForTheRecorder) {
  std::vector<std::string> words = {"/bin/sh", "-c", "ulimit -v 400000; exec \"$@\"", "-"};
  const std::vector<std::string> traced = Traced({"-o", scratch_ / "x.hgt"}, {"true"});
  words.insert(words.end(), traced.begin(), traced.end());
  const Outcome outcome = Command(words).Wait();
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("ulimit -v allows 391 MB"), std::string::npos) << outcome.err;
  EXPECT_FALSE(std::filesystem::exists(scratch_ / "x.hgt"));
}

TEST_F(TracedRun, LosesNothingOfAProgramThatHasNoDescriptorLeft) {
  const std::vector<std::string> words =
      Traced({"-o", scratch_ / "x.hgt"}, {Target("use_up_descriptors")});
  std::string line = "ulimit -n 64; exec";
  for (const std::string& word : words) line += " '" + word + "'";
  const Outcome outcome = Command({"/bin/sh", "-c", line}).Wait();
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "done\n");
  EXPECT_EQ(outcome.err.find("lost"), std::string::npos) << outcome.err;
  const auto trace = trace::TraceFile::Open(scratch_ / "x.hgt");
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_GE((*trace)->events(), 2u * 40 * 1000);
}

TEST_F(TracedRun, SaysThatTheGaugeFileHasNoRoomToGrow) {
  const std::string gauges = scratch_ / "gauge";
  std::filesystem::create_directory(gauges);
  std::string line = "mount -t tmpfs -o size=64k none '" + gauges + "' && exec";
  for (const std::string& word : Traced({"-o", scratch_ / "x.hgt"}, {Target("known_amounts")})) {
    line += " '" + word + "'";
  }
  const Outcome outcome =
      Command({"/usr/bin/unshare", "--mount", "--map-root-user", "/bin/sh", "-c", line}).Wait();
  if (outcome.err.find("unshare") != std::string::npos ||
      outcome.err.find("mount:") != std::string::npos) {
    GTEST_SKIP() << "cannot mount a small file system here: " << outcome.err;
  }
  EXPECT_NE(outcome.err.find("file system is full or too small: '" + gauges + "' has room for"),
            std::string::npos)
      << outcome.err;
}

TEST_F(TracedRun, SaysThatThereIsNoTrace) {
  const Outcome outcome = Run({"-o", "/proc/x.hgt"}, {Target("exec_self"), "0"});
  EXPECT_NE(outcome.err.find("; there is no trace: cannot create"), std::string::npos)
      << outcome.err;
  EXPECT_EQ(outcome.err.find("events"), std::string::npos) << outcome.err;
}

TEST_F(TracedRun, NoticesThatItsFileWasRemoved) {
  const std::string path = scratch_ / "x.hgt";
  const std::string remove = "while [ ! -s " + path + " ]; do :; done; rm " + path;
  const Outcome outcome = Run({"-o", path}, {"/bin/sh", "-c", remove});
  EXPECT_NE(outcome.err.find("was removed or renamed while it was written"), std::string::npos)
      << outcome.err;
  EXPECT_EQ(outcome.err.find("heapgauge top " + path), std::string::npos) << outcome.err;
}

TEST_F(TracedRun, NoticesThatItsFileWasCut) {
  const std::string path = scratch_ / "x.hgt";
  const std::string cut = "while [ ! -s " + path + " ]; do :; done; : > " + path;
  for (const bool quiet : {false, true}) {
    const std::vector<std::string> loud = {"-o", path};
    const Outcome outcome =
        Run(quiet ? std::vector<std::string>{"-o", path, "--quiet"} : loud, {"/bin/sh", "-c", cut});
    EXPECT_NE(outcome.err.find("was cut or overwritten while it was written"), std::string::npos)
        << outcome.err;
    EXPECT_EQ(outcome.err.find("heapgauge top " + path), std::string::npos) << outcome.err;
    std::filesystem::remove(path);
  }
}

TEST_F(TracedRun, DoesNotAdviseToLookAtWhatWasThrownAway) {
  const Outcome outcome = Run({"-o", "/dev/null"}, {Target("exec_self"), "0"});
  EXPECT_NE(outcome.err.find("events"), std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.err.find("look at it"), std::string::npos) << outcome.err;
}

// Whoever mixes up two names does not lose what was recorded.
TEST_F(TracedRun, IsNotReplacedByAReport) {
  const std::string path = scratch_ / "x.hgt";
  Run({"-o", path, "--quiet"}, {Target("exec_self"), "0"});
  const std::string before = ReadWholeFile(path, 1 << 20).value_or("");
  ASSERT_FALSE(before.empty());
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"top"}, {"timeline"}, {"report"}, {"query", "select 1"}, {"stats"}, {"heaptrack"}}) {
    std::vector<std::string> command = words;
    command.insert(command.begin() + 1, {"-o", path});
    command.push_back(path);
    const Outcome outcome = Heapgauge(command);
    EXPECT_EQ(outcome.code, 2) << words[0];
    EXPECT_NE(outcome.err.find("is a recording, which a report would destroy"), std::string::npos)
        << words[0] << outcome.err;
    EXPECT_EQ(ReadWholeFile(path, 1 << 20).value_or(""), before) << words[0];
  }
}

}  // namespace
}  // namespace heapgauge::testing
