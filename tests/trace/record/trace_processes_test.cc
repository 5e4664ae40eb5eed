// `heapgauge run --trace` of programs that fork, execute others, are left behind or go on without
// their recorder.

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/base/file.h"
#include "core/base/testing/eventually.h"
#include "tests/trace/record/traced_run.h"
#include "tests/trace/record/traced_run_fixture.h"
#include "wire/gauge_format.h"

namespace heapgauge::testing {
namespace {

::testing::AssertionResult EventuallyPrints(const Command& command, const std::string& text) {
  return Eventually("the program prints its line",
                    [&] { return command.OutSoFar().find(text) != std::string::npos; });
}

// `run` itself goes on then.
::testing::AssertionResult EventuallyHasNoChild(const Command& command) {
  return Eventually("the shell ends", [&] { return ChildOf(command.pid()) == 0; });
}

// Fails if the program ends instead.
::testing::AssertionResult EventuallyAllocates(pid_t program, const std::string& counts,
                                               uint64_t blocks) {
  bool runs = true;
  const auto result = Eventually("the program allocates", [&] {
    runs = kill(program, 0) == 0;
    return !runs || ReadChurn(counts).allocated_objects >= blocks;
  });
  if (!runs) return ::testing::AssertionFailure() << "the program ended";
  return result;
}

TEST_F(TracedRun, TheProgramGoesOnWhenTheRecorderIsKilled) {
  Command command(
      Traced({"-o", scratch_ / "x.hgt"}, {Target("churn_threads"), "--counts", scratch_ / "counts",
                                          "--threads", "2", "--slots", "300"}));
  ASSERT_TRUE(EventuallyPrints(command, "ready"));
  // Until a segment is on disk.
  const auto written = [&] {
    const auto file = trace::TraceFile::Open(scratch_ / "x.hgt");
    return file && (*file)->events() > 1000;
  };
  ASSERT_TRUE(Eventually("a segment is on disk", written));
  const pid_t program = ChildOf(command.pid());
  ASSERT_GT(program, 0);
  ASSERT_EQ(kill(command.pid(), SIGKILL), 0);
  command.Wait();
  const uint64_t before = ReadChurn(scratch_ / "counts").allocated_objects;
  const WholeTrace whole = ReadWholeTrace(scratch_ / "x.hgt");
  ASSERT_NE(whole.file, nullptr);
  EXPECT_FALSE(whole.file->facts().complete);
  EXPECT_LE(whole.others.births, before + 2);
  // More than its buffers have room for: it waited for nobody for ever.
  EXPECT_TRUE(EventuallyAllocates(program, scratch_ / "counts", before + 2'000'000));
  EXPECT_EQ(kill(program, SIGKILL), 0);
}

TEST_F(TracedRun, RecordsWhatTheProgramLeavesRunningUntilItIsStopped) {
  Command command(Traced({"-o", scratch_ / "x.hgt"},
                         {"sh", "-c",
                          Target("churn_threads") + " --counts " + (scratch_ / "counts") +
                              " --threads 1 --pause 1000 & while [ ! -s " + (scratch_ / "counts") +
                              " ]; do sleep 0.01; done; echo $!"}));
  // Its output ends with the number of the one that goes on.
  ASSERT_TRUE(EventuallyPrints(command, "\n"));
  ASSERT_TRUE(
      Eventually("the program runs", [&] { return ReadChurn(scratch_ / "counts").running != 0; }));
  ASSERT_TRUE(EventuallyHasNoChild(command));
  ASSERT_EQ(kill(command.pid(), SIGINT), 0);
  const Outcome outcome = command.Wait();
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  std::string text = outcome.out;
  const size_t ready = text.find("ready\n");
  if (ready != std::string::npos) text.erase(ready, 6);
  const auto program = static_cast<pid_t>(std::strtol(text.c_str(), nullptr, 10));
  ASSERT_GT(program, 1) << outcome.out;
  EXPECT_EQ(kill(program, SIGKILL), 0) << "it was to go on";
  const WholeTrace whole = ReadWholeTrace(scratch_ / ("x." + std::to_string(program) + ".hgt"));
  ASSERT_NE(whole.file, nullptr) << outcome.err;
  EXPECT_TRUE(whole.file->facts().complete);
  EXPECT_EQ(whole.file->facts().recording.state, RecordingState::kSnapshot);
  EXPECT_GE(whole.others.births, 2048U);
}

// Threads that fill buffers as fast as they are emptied, or faster.
TEST_F(TracedRun, StopsWhileABusyProgramGoesOn) {
  Command command(Traced({"-o", scratch_ / "x.hgt"},
                         {"sh", "-c",
                          Target("churn_threads") + " --counts " + (scratch_ / "counts") +
                              " --threads 8 --slots 300 & while [ ! -s " + (scratch_ / "counts") +
                              " ]; do sleep 0.01; done; echo $!"}));
  ASSERT_TRUE(EventuallyPrints(command, "ready\n"));
  ASSERT_TRUE(EventuallyHasNoChild(command));
  ASSERT_EQ(kill(command.pid(), SIGINT), 0);
  const Outcome outcome = command.Wait();
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  std::string text = outcome.out;
  text.erase(text.find("ready\n"), 6);
  const auto program = static_cast<pid_t>(std::strtol(text.c_str(), nullptr, 10));
  ASSERT_GT(program, 1) << outcome.out;
  // It was told, and did not have to find out.
  const uint64_t before = ReadChurn(scratch_ / "counts").allocated_objects;
  EXPECT_TRUE(EventuallyAllocates(program, scratch_ / "counts", before + 1'000'000));
  EXPECT_EQ(kill(program, SIGKILL), 0);
  const WholeTrace whole = ReadWholeTrace(scratch_ / ("x." + std::to_string(program) + ".hgt"));
  ASSERT_NE(whole.file, nullptr) << outcome.err;
  EXPECT_TRUE(whole.file->facts().complete);
  EXPECT_EQ(whole.file->facts().lost_events, 0U);
  EXPECT_EQ(whole.file->facts().unknown_frees, 0U);
}

TEST_F(TracedRun, AProgramThatStartsAfterTheRecordingWaitsForNobody) {
  const std::string go = scratch_ / "go";
  ASSERT_EQ(mkfifo(go.c_str(), 0600), 0);
  Command command(Traced({"-o", scratch_ / "x.hgt", "--follow-fork"},
                         {"sh", "-c",
                          "{ read word < " + go + "; exec " + Target("churn_threads") +
                              " --counts " + (scratch_ / "counts") + " --threads 1; } & echo $!"}));
  ASSERT_TRUE(EventuallyPrints(command, "\n"));
  ASSERT_TRUE(EventuallyHasNoChild(command));
  kill(command.pid(), SIGINT);
  const Outcome outcome = command.Wait();
  const auto program = static_cast<pid_t>(std::strtol(outcome.out.c_str(), nullptr, 10));
  ASSERT_GT(program, 1) << outcome.out;
  std::ofstream(go) << "word\n";
  // More than the buffers have room for.
  EXPECT_TRUE(EventuallyAllocates(program, scratch_ / "counts", 1'000'000));
  EXPECT_EQ(kill(program, SIGKILL), 0);
  size_t found = 0;
  for (const auto& entry : std::filesystem::directory_iterator(scratch_ / "gauge")) {
    if (entry.path().filename().string().find("churn_threads") == std::string::npos) continue;
    wire::Header header{};
    ASSERT_EQ(File::OpenForReading(entry.path())->ReadAt(0, &header, sizeof header), sizeof header);
    ++found;
    EXPECT_EQ(header.trace.waits, 0U);
    EXPECT_EQ(header.trace.gave_up, 1U);
  }
  EXPECT_EQ(found, 1U);
}

TEST_F(TracedRun, EndsAsTheProgramDoes) {
  EXPECT_EQ(Run({"-o", scratch_ / "a.hgt"}, {"sh", "-c", "exit 7"}).code, 7);
  EXPECT_EQ(Run({"-o", scratch_ / "b.hgt"}, {"sh", "-c", "kill -TERM $$"}).signal, SIGTERM);
  EXPECT_EQ(Run({"-o", scratch_ / "c.hgt"}, {"/no/such/program"}).code, 127);
}

TEST_F(TracedRun, KnowsWhoLeftFromWhoWasKilled) {
  const auto state_after = [&](const std::string& how) {
    const std::string trace = scratch_ / "how.hgt";
    Run({"-o", trace}, {"/usr/bin/python3", "-I", "-S", "-c", "import os, sys\n" + how});
    const WholeTrace whole = ReadWholeTrace(trace);
    return whole.file != nullptr ? whole.file->facts().recording.state : RecordingState::kUnknown;
  };
  EXPECT_EQ(state_after("sys.exit(3)"), RecordingState::kEnded);
  EXPECT_EQ(state_after("os._exit(3)"), RecordingState::kEnded);
  // The C library leaves by a call of its own here, which the agent does not see.
  EXPECT_EQ(state_after("import ctypes\nctypes.CDLL(None).daemon(1, 1)"), RecordingState::kEnded);
  EXPECT_EQ(state_after("os.kill(os.getpid(), 9)"), RecordingState::kKilled);
  EXPECT_EQ(state_after("os.abort()"), RecordingState::kKilled);
  // Children of fork and of vfork that leave by _exit are others, though the latter has its memory.
  EXPECT_EQ(state_after("if os.fork() == 0: os._exit(0)\n"
                        "os.wait()\n"
                        "os.kill(os.getpid(), 9)"),
            RecordingState::kKilled);
  EXPECT_EQ(state_after("import subprocess\n"
                        "try: subprocess.run(['/no/such/program'])\n"
                        "except OSError: os.kill(os.getpid(), 9)"),
            RecordingState::kKilled);
}

// The agent does not see how they leave, and somebody else waits for them.
TEST_F(TracedRun, DoesNotCallAChildKilledThatLeftByItself) {
  const auto state_after = [&](const std::string& how) {
    for (const std::string& path : Traces()) std::filesystem::remove(path);
    const Outcome outcome =
        Run({"-o", scratch_ / "x.hgt", "--follow-fork"},
            {"/usr/bin/python3", "-I", "-S", "-c",
             "import ctypes, os, time\nsyscall = ctypes.CDLL(None).syscall\n"
             "if os.fork() == 0:\n  kept = [bytes(i) for i in range(1000)]\n  time.sleep(0.3)\n  " +
                 how + "\nos.wait()"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(Traces().size(), 2U) << outcome.err;
    for (const std::string& path : Traces()) {
      if (path == scratch_ / "x.hgt") continue;
      const WholeTrace whole = ReadWholeTrace(path);
      if (whole.file != nullptr) return whole.file->facts().recording.state;
    }
    return RecordingState::kUnknown;
  };
  // Older kernels do not tell.
  const RecordingState left = state_after("syscall(231, 3)");  // exit_group
  EXPECT_TRUE(left == RecordingState::kEnded || left == RecordingState::kGone) << StateName(left);
  const RecordingState killed = state_after("os.kill(os.getpid(), 9)");
  EXPECT_EQ(killed,
            left == RecordingState::kEnded ? RecordingState::kKilled : RecordingState::kGone);
}

TEST_F(TracedRun, KnowsWhoExecutedAProgramWithoutTheAgent) {
  const Outcome outcome =
      Run({"-o", scratch_ / "x.hgt"}, {"sh", "-c", "env -i sleep 0.5; exec env -i sleep 0.5"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  size_t replaced = 0;
  for (const std::string& path : Traces()) {
    const WholeTrace whole = ReadWholeTrace(path);
    ASSERT_NE(whole.file, nullptr);
    const RecordingFacts& recording = whole.file->facts().recording;
    EXPECT_EQ(recording.state, RecordingState::kReplaced) << path;
    if (recording.name() == "env") ++replaced;
  }
  EXPECT_EQ(replaced, 2U) << outcome.err;
}

TEST_F(TracedRun, ProgramsOfOneProcessHaveATraceEach) {
  const Outcome outcome = Run({"-o", scratch_ / "x.hgt"}, {Target("exec_self"), "3"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const std::vector<std::string> traces = Traces();
  EXPECT_EQ(traces.size(), 4U) << outcome.err;
  size_t ended = 0;
  for (const std::string& path : traces) {
    const WholeTrace whole = ReadWholeTrace(path);
    ASSERT_NE(whole.file, nullptr);
    EXPECT_GT(whole.all.births, 2000U) << path;
    const RecordingState state = whole.file->facts().recording.state;
    if (state == RecordingState::kEnded) ++ended;
    EXPECT_EQ(state == RecordingState::kEnded, path == scratch_ / "x.hgt");
  }
  EXPECT_EQ(ended, 1U);
  EXPECT_EQ(GaugeFiles(), 0U);
}

TEST_F(TracedRun, FollowsForkOnlyIfAsked) {
  const Outcome alone = Run({"-o", scratch_ / "x.hgt"}, {Target("fork"), "2"});
  EXPECT_EQ(alone.code, 0) << alone.err;
  EXPECT_EQ(Traces().size(), 1U) << alone.err;
  const Outcome all = Run({"-o", scratch_ / "x.hgt", "--follow-fork"}, {Target("fork"), "2"});
  EXPECT_EQ(all.code, 0) << all.err;
  EXPECT_EQ(alone.out, all.out);
  EXPECT_EQ(Traces().size(), 3U) << all.err;
  for (const std::string& path : Traces()) {
    const WholeTrace whole = ReadWholeTrace(path);
    ASSERT_NE(whole.file, nullptr);
    EXPECT_GT(whole.all.births, 10'000U) << path;
    EXPECT_EQ(whole.file->facts().recording.forked, path != scratch_ / "x.hgt");
  }
}

TEST_F(TracedRun, RecordsADaemonWhoseParentsHaveGone) {
  for (const std::string rest : {"0", "300"}) {
    const std::string result = scratch_ / ("result" + rest);
    const std::string trace = scratch_ / ("x" + rest + ".hgt");
    const Outcome outcome =
        Run({"-o", trace, "--follow-fork"}, {Target("daemonise"), result, rest});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_TRUE(std::filesystem::exists(result));  // its end was waited for
    size_t daemons = 0;
    for (const std::string& path : Traces()) {
      if (path == trace || path.find("/x" + rest + ".") == std::string::npos) continue;
      const WholeTrace whole = ReadWholeTrace(path);
      ASSERT_NE(whole.file, nullptr);
      if (whole.all.births > 10'000U) ++daemons;
      EXPECT_EQ(whole.file->facts().recording.state, RecordingState::kEnded);
    }
    EXPECT_EQ(daemons, 1U) << outcome.err;
    // The parent's trace is not the one to look at.
    EXPECT_NE(outcome.err.find("look at it with: heapgauge top "), std::string::npos);
    EXPECT_EQ(outcome.err.find("top " + trace + "\n"), std::string::npos) << outcome.err;
    EXPECT_EQ(GaugeFiles(), 0U);
  }
}

TEST_F(TracedRun, SaysWhatItForkedAndDoesNotRecord) {
  const std::string result = scratch_ / "result";
  const Outcome outcome = Run({"-o", scratch_ / "x.hgt"}, {Target("daemonise"), result, "1000"});
  EXPECT_NE(outcome.err.find("a process that it forked goes on and is not recorded: --follow-fork"),
            std::string::npos)
      << outcome.err;
  EXPECT_TRUE(Eventually("the daemon ends", [&] { return std::filesystem::exists(result); }));
}

TEST_F(TracedRun, RecordsWhatAShortLivedSubshellStarts) {
  const Outcome outcome =
      Run({"-o", scratch_ / "x.hgt"}, {"sh", "-c", "(ls / | wc -l); (ls / | wc -l); sleep 0.2"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_GE(Traces().size(), 5U) << outcome.err;
  EXPECT_EQ(GaugeFiles(), 0U);
}

// Each of them is process 1 where it is.
TEST_F(TracedRun, RecordsProgramsInPidNamespacesToTheirEnd) {
  const std::vector<std::string> unshare = {"unshare", "-pf", "--mount-proc"};
  std::vector<std::string> probe = unshare;
  probe.push_back("true");
  if (Command(probe).Wait().code != 0) GTEST_SKIP() << "pid namespaces are not permitted here";
  std::string both;
  for (const char* counts : {"a", "b"}) {
    both += "unshare -pf --mount-proc " + Target("churn_threads") + " --counts " +
            (scratch_ / counts) + " --threads 2 --slots 300 --seconds 1 --pause 100 & sleep 0.1; ";
  }
  const Outcome outcome = Run({"-o", scratch_ / "x.hgt"}, {"sh", "-c", both + "wait"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  std::multiset<uint64_t> counted;
  for (const char* counts : {"a", "b"}) {
    counted.insert(ReadChurn(scratch_ / counts).allocated_objects);
  }
  std::multiset<uint64_t> traced;
  for (const std::string& path : Traces()) {
    const WholeTrace whole = ReadWholeTrace(path);
    ASSERT_NE(whole.file, nullptr);
    if (whole.file->facts().recording.pid != 1) continue;
    EXPECT_EQ(whole.file->facts().recording.state, RecordingState::kEnded) << path;
    EXPECT_FALSE(whole.file->memory().empty()) << path;
    EXPECT_NE(whole.file->threads()[0].name, "") << path;
    traced.insert(whole.others.births);
  }
  EXPECT_EQ(traced, counted);
}

}  // namespace
}  // namespace heapgauge::testing
