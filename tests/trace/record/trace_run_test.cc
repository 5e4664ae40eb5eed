// `heapgauge run --trace` from outside, the real agent in real programs: a trace has what the
// program did, whatever becomes of it.

#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "core/base/testing/eventually.h"
#include "tests/trace/record/traced_run.h"
#include "tests/trace/record/traced_run_fixture.h"

namespace heapgauge::testing {
namespace {

uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr ? std::strtoull(value, nullptr, 10) : otherwise;
}

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
    ASSERT_TRUE(Eventually("the program is ready",
                           [&] { return command.OutSoFar().find("ready") != std::string::npos; }));
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

TEST_F(TracedRun, KnowsEachBlockHoweverQuicklyItIsHandedOver) {
  const Outcome outcome = Run({"-o", scratch_ / "x.hgt"}, {Target("hand_over"), "300000"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const WholeTrace whole = ReadWholeTrace(scratch_ / "x.hgt");
  ASSERT_NE(whole.file, nullptr);
  EXPECT_EQ(whole.file->facts().missed_frees, 0U);
  EXPECT_EQ(whole.file->facts().unknown_frees, 0U);
  EXPECT_EQ(whole.others.births, 300'000U);
  EXPECT_EQ(whole.others.survivors, 0U);
  EXPECT_GE(whole.all.births, 930'000U);
}

TEST_F(TracedRun, LeavesRangesAloneThatTheProgramTakesBack) {
  for (const char* mappings : {"--quiet", "--mmap"}) {
    const Outcome outcome = Run({"-o", scratch_ / "x.hgt", mappings}, {Target("take_back")});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "all taken back\n");
    std::filesystem::remove(scratch_ / "x.hgt");
  }
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

}  // namespace
}  // namespace heapgauge::testing
