// heapgauge run: the program must not notice. An agent that only writes a header stands in for the
// real one.

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "core/base/testing/eventually.h"
#include "core/gauge/gauge_reader.h"
#include "tests/cli/command.h"

namespace heapgauge::testing {
namespace {

Environment Agent(const ScratchDir& dir) {
  return {
      {"HEAPGAUGE_AGENT", HEAPGAUGE_FAKE_AGENT}, {"HEAPGAUGE_DIR", dir.path()}, {"LD_PRELOAD", ""}};
}

Outcome RunProgram(const ScratchDir& dir, const std::vector<std::string>& arguments,
                   const std::string& input = "") {
  std::vector<std::string> all = {"run"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return Heapgauge(all, Agent(dir), input);
}

// Waits until the command has printed something that ends with a newline.
void WaitForLine(const Command& command) {
  EXPECT_TRUE(Eventually("the command prints a line",
                         [&] { return command.OutSoFar().find('\n') != std::string::npos; }));
}

TEST(Run, PassesTheExitCodeOn) {
  const ScratchDir dir;
  EXPECT_EQ(RunProgram(dir, {"--", "sh", "-c", "exit 0"}).code, 0);
  EXPECT_EQ(RunProgram(dir, {"--", "sh", "-c", "exit 7"}).code, 7);
  EXPECT_EQ(RunProgram(dir, {"--quiet", "sh", "-c", "exit 255"}).code, 255)
      << "dashes are optional";
  EXPECT_EQ(RunProgram(dir, {"--quiet", "sh", "-c", "exit ${#1}", "sh", "--file="}).code, 7)
      << "its words are its own";
}

TEST(Run, TheExitCodeIsTheSameIfNobodyReadsOurLastWords) {
  const ScratchDir dir;
  // The program ends when it has seen that the reader is gone.
  const std::string program = "trap '' PIPE; while echo x; do sleep 0.01; done 2>/dev/null; exit 3";
  std::vector<std::string> words = {"bash", "-c", "\"$@\" 2>&1 | true; exit ${PIPESTATUS[0]}", "-"};
  const std::vector<std::string> run = HeapgaugeCommand({"run", "--", "sh", "-c", program});
  words.insert(words.end(), run.begin(), run.end());
  EXPECT_EQ(Command(words, Agent(dir)).Wait().code, 3);
  words[2] = "\"$@\" 2>/dev/full | true; exit ${PIPESTATUS[0]}";
  EXPECT_EQ(Command(words, Agent(dir)).Wait().code, 3);
}

TEST(Run, DiesByTheSameSignal) {
  const ScratchDir dir;
  for (const int signal : {SIGTERM, SIGKILL, SIGSEGV, SIGABRT, SIGPIPE, SIGINT}) {
    const Outcome outcome =
        RunProgram(dir, {"--", "sh", "-c", "kill -" + std::to_string(signal) + " $$"});
    EXPECT_EQ(outcome.signal, signal) << outcome.err;
    EXPECT_NE(outcome.err.find("was killed by SIG"), std::string::npos);
  }
}

TEST(Run, AnswersLikeAShellWhenTheProgramCannotBeStarted) {
  const ScratchDir dir;
  Outcome outcome = RunProgram(dir, {"--", "no-such-program-anywhere"});
  EXPECT_EQ(outcome.code, 127);
  EXPECT_NE(outcome.err.find("cannot run 'no-such-program-anywhere'"), std::string::npos);
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1);
  EXPECT_EQ(RunProgram(dir, {"--", "/etc/passwd"}).code, 126);
  EXPECT_EQ(RunProgram(dir, {"--", "/"}).code, 126);
}

TEST(Run, StreamsAreTheProgramsOwn) {
  const ScratchDir dir;
  const Outcome outcome =
      RunProgram(dir, {"--quiet", "--", "sh", "-c", "cat; echo error >&2"}, "input text");
  EXPECT_EQ(outcome.out, "input text");
  EXPECT_EQ(outcome.err, "error\n") << "--quiet adds nothing";
}

TEST(Run, SignalStateIsAsItWas) {
  const ScratchDir dir;
  const Outcome outcome =
      RunProgram(dir, {"--quiet", "--", "grep", "-E", "Sig(Blk|Ign)", "/proc/self/status"});
  Command plain({"grep", "-E", "Sig(Blk|Ign)", "/proc/self/status"});
  EXPECT_EQ(outcome.out, plain.Wait().out);
}

TEST(Run, TellsTheAgentWhatWasAskedFor) {
  const ScratchDir dir;
  const Outcome outcome = RunProgram(
      dir, {"--sample", "128K", "--max-rate", "77", "--inactive", "--no-follow-exec", "-o",
            dir / "x.hg", "--", "sh", "-c",
            "echo $HEAPGAUGE_SAMPLE $HEAPGAUGE_MAX_RATE $HEAPGAUGE_ACTIVE $HEAPGAUGE_FOLLOW_EXEC "
            "$HEAPGAUGE_OUT $HEAPGAUGE_DIR; test $HEAPGAUGE_OUT_PID = $$ && echo same"});
  EXPECT_EQ(outcome.out, "131072 77 0 0 " + (dir / "x.hg") + " " + dir.path() + "\nsame\n");
}

TEST(Run, TheAgentComesFirstInThePreloadList) {
  const ScratchDir dir;
  Environment environment = Agent(dir);
  environment.back().second = HEAPGAUGE_FAKE_AGENT_2;
  // AddressSanitizer refuses to start behind a preloaded library, unless told otherwise.
  environment.emplace_back("ASAN_OPTIONS", "verify_asan_link_order=0");
  const Outcome outcome =
      Heapgauge({"run", "--quiet", "--", "sh", "-c", "echo $LD_PRELOAD"}, environment);
  EXPECT_EQ(outcome.out, std::string(HEAPGAUGE_FAKE_AGENT) + ":" + HEAPGAUGE_FAKE_AGENT_2 + "\n");
}

TEST(Run, SignalsSentToHeapgaugeReachTheProgram) {
  const ScratchDir dir;
  for (const char* name : {"TERM", "HUP", "USR1", "INT", "QUIT"}) {
    Command command(HeapgaugeCommand({"run", "--quiet", "--", "sh", "-c",
                                      std::string("trap 'exit 42' ") + name +
                                          "; echo ready; while :; do sleep 0.05; done"}),
                    Agent(dir));
    WaitForLine(command);
    const std::string kill_it = std::string("kill -") + name + " " + std::to_string(command.pid());
    ASSERT_EQ(std::system(kill_it.c_str()), 0);
    EXPECT_EQ(command.Wait().code, 42) << name;
  }
}

TEST(Run, SaysWhereTheFileIsAndWhatToType) {
  const ScratchDir dir;
  const Outcome outcome = RunProgram(dir, {"-o", dir / "x.hg", "--", "sh", "-c", "exit 3"});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_NE(outcome.err.find("exited with 3"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("heapgauge top " + (dir / "x.hg")), std::string::npos) << outcome.err;
  EXPECT_LE(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 3);
}

TEST(Run, FindsTheFileInTheDirectoryToo) {
  const ScratchDir dir;
  const Outcome outcome = RunProgram(dir, {"--dir", dir / "gauges", "--", "sh", "-c", "true"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_NE(outcome.err.find("heapgauge top " + (dir / "gauges/")), std::string::npos)
      << outcome.err;
}

TEST(Run, SaysWhyThereIsNoProfile) {
  const ScratchDir dir;
  const Outcome outcome = RunProgram(dir, {"-o", dir / "x.hg", "--", HEAPGAUGE_STATIC_PROGRAM});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_NE(outcome.err.find("linked statically"), std::string::npos) << outcome.err;
}

TEST(Run, TicksTheTimelineWithResidentMemory) {
  const ScratchDir dir;
  const Outcome outcome = RunProgram(dir, {"--quiet", "-o", dir / "x.hg", "--", "sleep", "2.5"});
  EXPECT_EQ(outcome.code, 0);
  const auto profile = ReadGaugeFile(dir / "x.hg");
  ASSERT_TRUE(profile) << profile.error().message;
  ASSERT_GE(profile->timeline.size(), 1u);
  EXPECT_GT(profile->timeline[0].resident_bytes, 100'000u);
}

}  // namespace
}  // namespace heapgauge::testing
