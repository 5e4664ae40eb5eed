// `heapgauge run --trace` from outside: the real agent in real programs.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "core/base/file.h"
#include "core/trace/trace_writer.h"
#include "tests/cli/command.h"
#include "tests/trace/record/traced_run.h"
#include "wire/gauge_format.h"

namespace heapgauge::testing {
namespace {

std::string Target(const std::string& name) { return std::string(HEAPGAUGE_TARGETS) + "/" + name; }

uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr ? std::strtoull(value, nullptr, 10) : otherwise;
}

class TracedRun : public ::testing::Test {
 protected:
  // heapgauge run --trace, with all files in the scratch directory.
  std::vector<std::string> Traced(const std::vector<std::string>& options,
                                  const std::vector<std::string>& command) {
    std::vector<std::string> words = {"run", "--trace", "--dir", scratch_ / "gauge"};
    words.insert(words.end(), options.begin(), options.end());
    words.push_back("--");
    words.insert(words.end(), command.begin(), command.end());
    return HeapgaugeCommand(words);
  }
  Outcome Run(const std::vector<std::string>& options, const std::vector<std::string>& command) {
    return Command(Traced(options, command)).Wait();
  }
  std::vector<std::string> Traces() {
    std::vector<std::string> paths;
    for (const auto& entry : std::filesystem::directory_iterator(scratch_.path())) {
      if (entry.path().extension() == ".hgt") paths.push_back(entry.path().string());
    }
    return paths;
  }
  size_t GaugeFiles() {
    size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(scratch_ / "gauge")) {
      count += entry.is_regular_file() ? 1 : 0;
    }
    return count;
  }

  ScratchDir scratch_;
};

TEST_F(TracedRun, HasExactlyWhatTheProgramDid) {
  const Outcome outcome =
      Run({"-o", scratch_ / "x.hgt"}, {Target("churn_threads"), "--counts", scratch_ / "counts",
                                       "--threads", "3", "--seconds", "0.3", "--slots", "500"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const ChurnSums counts = ReadChurn(scratch_ / "counts");
  const WholeTrace whole = ReadWholeTrace(scratch_ / "x.hgt");
  EXPECT_EQ(whole.others.births, counts.allocated_objects);
  EXPECT_EQ(whole.others.born_bytes, counts.allocated_bytes);
  EXPECT_EQ(whole.others.survivors, counts.live_objects);
  EXPECT_EQ(whole.others.born_bytes - whole.others.dead_bytes, counts.live_bytes);
  const trace::Facts& facts = whole.file->facts();
  EXPECT_TRUE(facts.complete);
  EXPECT_EQ(facts.recording.state, RecordingState::kEnded);
  EXPECT_EQ(facts.lost_events, 0U);
  EXPECT_EQ(facts.unknown_frees, 0U);
  EXPECT_EQ(facts.missed_frees, 0U);
  EXPECT_EQ(whole.file->threads().size(), 4U);
  EXPECT_FALSE(whole.file->memory().empty());
  EXPECT_EQ(GaugeFiles(), 0U);
  EXPECT_NE(outcome.err.find("heapgauge top " + (scratch_ / "x.hgt")), std::string::npos);
}

TEST_F(TracedRun, LosesNothingWhenKilled) {
  const uint64_t rounds = FromEnvironment("HEAPGAUGE_TEST_KILLS", 4);
  for (uint64_t round = 0; round < rounds; ++round) {
    const std::string counts_path = scratch_ / ("counts" + std::to_string(round));
    const std::string trace_path = scratch_ / ("killed" + std::to_string(round) + ".hgt");
    const std::string threads = std::to_string(1 + round % 5);
    Command command(Traced({"-o", trace_path},
                           {Target("churn_threads"), "--counts", counts_path, "--threads", threads,
                            "--slots", "300", "--seed", std::to_string(round + 1)}));
    while (command.OutSoFar().find("ready") == std::string::npos) usleep(1000);
    usleep(static_cast<useconds_t>(round * 7919 % 100'000));
    const pid_t program = ChildOf(command.pid());
    ASSERT_GT(program, 0);
    ASSERT_EQ(kill(program, SIGKILL), 0);
    const Outcome outcome = command.Wait();
    EXPECT_EQ(outcome.signal, SIGKILL) << outcome.err;
    const ChurnSums counts = ReadChurn(counts_path);
    const WholeTrace whole = ReadWholeTrace(trace_path);
    ASSERT_NE(whole.file, nullptr);
    EXPECT_EQ(whole.file->facts().recording.state, RecordingState::kKilled);
    EXPECT_EQ(whole.file->facts().lost_events, 0U);
    EXPECT_EQ(whole.file->facts().missed_frees, 0U);
    // What malloc has returned is there, and at most one more of each thread.
    EXPECT_GE(whole.others.births, counts.allocated_objects);
    EXPECT_LE(whole.others.births, counts.allocated_objects + counts.threads);
    EXPECT_GE(whole.others.born_bytes, counts.allocated_bytes);
    // A block is taken off the count before free is called.
    const uint64_t freed = counts.allocated_objects - counts.live_objects;
    EXPECT_LE(whole.others.deaths, freed);
    EXPECT_GE(whole.others.deaths + counts.threads, freed);
    ASSERT_FALSE(HasFailure()) << "round " << round << "\n" << outcome.err;
    std::filesystem::remove(trace_path);
    std::filesystem::remove(counts_path);
  }
}

TEST_F(TracedRun, KeepsUpWith64Threads) {
  const uint64_t seconds = FromEnvironment("HEAPGAUGE_TEST_SECONDS", 1);
  const Outcome outcome =
      Run({"-o", scratch_ / "x.hgt", "--verbose"},
          {Target("churn_threads"), "--counts", scratch_ / "counts", "--threads", "64", "--seconds",
           std::to_string(seconds), "--slots", "100"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const ChurnSums counts = ReadChurn(scratch_ / "counts");
  const WholeTrace whole = ReadWholeTrace(scratch_ / "x.hgt");
  ASSERT_NE(whole.file, nullptr);
  EXPECT_EQ(whole.file->facts().lost_events, 0U);
  EXPECT_EQ(whole.file->facts().missed_frees, 0U);
  EXPECT_EQ(whole.file->facts().unknown_frees, 0U);
  EXPECT_EQ(whole.others.births, counts.allocated_objects);
  EXPECT_EQ(whole.others.born_bytes, counts.allocated_bytes);
  EXPECT_EQ(whole.others.survivors, counts.live_objects);
  std::cout << outcome.err;
  if (std::string(HEAPGAUGE_SANITIZED).empty()) {
    // Beside the queue of 4 MiB: segments under way, and what the command itself needs.
    const size_t at = outcome.err.find("at most ");
    ASSERT_NE(at, std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.err.compare(outcome.err.size() - 4, 4, " MB\n"), 0) << outcome.err;
    EXPECT_LT(std::strtod(outcome.err.c_str() + at + 8, nullptr), 256) << outcome.err;
  }
}

TEST_F(TracedRun, TheProgramGoesOnWhenTheRecorderIsKilled) {
  Command command(
      Traced({"-o", scratch_ / "x.hgt"}, {Target("churn_threads"), "--counts", scratch_ / "counts",
                                          "--threads", "2", "--slots", "300"}));
  while (command.OutSoFar().find("ready") == std::string::npos) usleep(1000);
  // Until a segment is on disk.
  const auto written = [&] {
    const auto file = trace::TraceFile::Open(scratch_ / "x.hgt");
    return file && (*file)->events() > 1000;
  };
  while (!written()) usleep(10'000);
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
  while (ReadChurn(scratch_ / "counts").allocated_objects < before + 2'000'000) {
    ASSERT_EQ(kill(program, 0), 0) << "the program ended";
    usleep(50'000);
  }
  EXPECT_EQ(kill(program, SIGKILL), 0);
}

TEST_F(TracedRun, RecordsWhatTheProgramLeavesRunningUntilItIsStopped) {
  Command command(Traced({"-o", scratch_ / "x.hgt"},
                         {"sh", "-c",
                          Target("churn_threads") + " --counts " + (scratch_ / "counts") +
                              " --threads 1 --pause 1000 & while [ ! -s " + (scratch_ / "counts") +
                              " ]; do sleep 0.01; done; echo $!"}));
  // Its output ends with the number of the one that goes on.
  while (command.OutSoFar().find('\n') == std::string::npos ||
         ReadChurn(scratch_ / "counts").running == 0) {
    usleep(10'000);
  }
  while (ChildOf(command.pid()) != 0) usleep(10'000);  // the shell has ended
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
  while (command.OutSoFar().find("ready\n") == std::string::npos || ChildOf(command.pid()) != 0) {
    usleep(10'000);
  }
  ASSERT_EQ(kill(command.pid(), SIGINT), 0);
  const Outcome outcome = command.Wait();
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  std::string text = outcome.out;
  text.erase(text.find("ready\n"), 6);
  const auto program = static_cast<pid_t>(std::strtol(text.c_str(), nullptr, 10));
  ASSERT_GT(program, 1) << outcome.out;
  // It was told, and did not have to find out.
  const uint64_t before = ReadChurn(scratch_ / "counts").allocated_objects;
  while (ReadChurn(scratch_ / "counts").allocated_objects < before + 1'000'000) {
    ASSERT_EQ(kill(program, 0), 0) << "the program ended";
    usleep(10'000);
  }
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
  while (command.OutSoFar().find('\n') == std::string::npos || ChildOf(command.pid()) != 0) {
    usleep(10'000);
  }
  kill(command.pid(), SIGINT);
  const Outcome outcome = command.Wait();
  const auto program = static_cast<pid_t>(std::strtol(outcome.out.c_str(), nullptr, 10));
  ASSERT_GT(program, 1) << outcome.out;
  std::ofstream(go) << "word\n";
  // More than the buffers have room for.
  while (ReadChurn(scratch_ / "counts").allocated_objects < 1'000'000) {
    ASSERT_EQ(kill(program, 0), 0) << "the program ended";
    usleep(10'000);
  }
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
    const Recording& recording = whole.file->facts().recording;
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
  while (!std::filesystem::exists(result)) usleep(10'000);
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

TEST_F(TracedRun, LeavesOutWhatDiedYoung) {
  const Outcome outcome = Run({"-o", scratch_ / "x.hgt", "--cull-below", "5ms"},
                              {Target("churn_threads"), "--counts", scratch_ / "counts",
                               "--threads", "2", "--seconds", "0.5", "--slots", "200"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const ChurnSums counts = ReadChurn(scratch_ / "counts");
  const WholeTrace whole = ReadWholeTrace(scratch_ / "x.hgt");
  ASSERT_NE(whole.file, nullptr);
  const trace::Facts& facts = whole.file->facts();
  EXPECT_EQ(facts.culled_below_ns, 5'000'000U);
  EXPECT_GT(facts.culled_blocks, 0U);
  EXPECT_GE(whole.others.youngest_death_ns, 5'000'000U);
  EXPECT_GE(whole.all.births + facts.culled_blocks, counts.allocated_objects);
  EXPECT_EQ(whole.others.survivors, counts.live_objects);
}

TEST_F(TracedRun, DropsWhatFindsNoRoomIfAsked) {
  const Outcome outcome = Run({"-o", scratch_ / "x.hgt", "--drop", "--trace-buffer", "1M"},
                              {Target("churn_threads"), "--counts", scratch_ / "counts",
                               "--threads", "8", "--seconds", "0.5", "--slots", "100"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const WholeTrace whole = ReadWholeTrace(scratch_ / "x.hgt");
  ASSERT_NE(whole.file, nullptr);
  EXPECT_EQ(whole.file->facts().waits, 0U);
  const ChurnSums counts = ReadChurn(scratch_ / "counts");
  // Every event that is missing is counted.
  const uint64_t freed = counts.allocated_objects - counts.live_objects;
  EXPECT_GE(whole.others.births + whole.others.deaths + whole.file->facts().lost_events +
                whole.file->facts().unknown_frees,
            counts.allocated_objects + freed);
}

TEST_F(TracedRun, ADiskThatIsFullDoesNotTouchTheProgram) {
  const Outcome bare = Command({Target("fork"), "2"}).Wait();
  const Outcome outcome = Run({"-o", "/dev/full"}, {Target("fork"), "2"});
  EXPECT_EQ(outcome.code, bare.code);
  EXPECT_EQ(outcome.out, bare.out);
  EXPECT_NE(outcome.err.find("No space left on device"), std::string::npos) << outcome.err;
  EXPECT_EQ(GaugeFiles(), 0U);
  const Outcome quiet = Run({"-o", "/dev/full", "--quiet"}, {Target("fork"), "2"});
  EXPECT_EQ(quiet.code, bare.code);
  EXPECT_NE(quiet.err.find("there is no trace of fork"), std::string::npos) << quiet.err;
  EXPECT_NE(quiet.err.find("No space left on device"), std::string::npos) << quiet.err;
}

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

TEST_F(TracedRun, SaysThatThereIsNoTrace) {
  const Outcome outcome = Run({"-o", "/proc/x.hgt"}, {Target("exec_self"), "0"});
  EXPECT_NE(outcome.err.find("; there is no trace: cannot create"), std::string::npos)
      << outcome.err;
  EXPECT_EQ(outcome.err.find("events"), std::string::npos) << outcome.err;
}

TEST_F(TracedRun, NoticesThatItsFileWasRemoved) {
  const std::string path = scratch_ / "x.hgt";
  const Outcome outcome = Run({"-o", path}, {"/bin/sh", "-c", "rm -f " + path});
  EXPECT_NE(outcome.err.find("was removed or renamed while it was written"), std::string::npos)
      << outcome.err;
  EXPECT_EQ(outcome.err.find("heapgauge top " + path), std::string::npos) << outcome.err;
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
