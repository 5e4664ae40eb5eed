// Programs that run while every call is traced: they do as they would without, and each call is
// there once, in the true order for each address.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <sstream>

#include "tests/trace/agent/drained_run.h"

namespace heapgauge::trace_test {
namespace {

using wire::TraceEventKind;

constexpr char kLibraries[] = "/usr/lib/x86_64-linux-gnu/";

std::string Target(const std::string& name) { return HG_TARGETS "/" + name; }

struct Allocator {
  const char* name;
  const char* library;

  std::string path() const { return *library == '\0' ? "" : kLibraries + std::string(library); }
  bool installed() const { return *library == '\0' || std::filesystem::exists(path()); }
};

constexpr Allocator kAllocators[] = {{"glibc", ""},
                                     {"jemalloc", "libjemalloc.so.2"},
                                     {"tcmalloc", "libtcmalloc_minimal.so.4"},
                                     {"mimalloc", "libmimalloc.so.2"}};

void ExpectSound(const Process& process) {
  EXPECT_TRUE(process.broken.empty()) << process.broken[0];
  EXPECT_EQ(process.control.lost, 0u);
  EXPECT_EQ(process.control.gave_up, 0u);
  EXPECT_EQ(process.control.waiting, 0u);
  const Account account = Follow(process.events);
  EXPECT_EQ(account.twice_allocated, 0u);
  EXPECT_EQ(account.unknown_frees, 0u);
  EXPECT_EQ(account.unmatched_ends, 0u);
  uint64_t without_stack = 0;
  for (const Event& event : process.events) {
    if (event.kind != TraceEventKind::kAllocate && event.kind != TraceEventKind::kResizeEnd) {
      continue;
    }
    without_stack += event.stack == 0 || event.stack >= process.stacks.size() ||
                     process.stacks[event.stack].node == 0;
  }
  EXPECT_EQ(without_stack, 0u);
  for (const wire::StackRecord& stack : process.stacks) {
    EXPECT_EQ(stack.samples, 0u);  // nothing is sampled
  }
}

class Churn : public testing::TestWithParam<std::tuple<Allocator, int>> {};

// What churn_threads says of itself at its end.
struct Sums {
  uint64_t live_bytes = 0, allocated_bytes = 0, live_objects = 0, allocated_objects = 0;
};
Sums SumsOf(const std::string& out) {
  Sums sums;
  const size_t at = out.find("done ");
  if (at == std::string::npos) return sums;
  std::istringstream(out.substr(at + 5)) >> sums.live_bytes >> sums.allocated_bytes >>
      sums.live_objects >> sums.allocated_objects;
  return sums;
}

TEST_P(Churn, EveryCallOfEveryThreadIsThereOnce) {
  const auto& [allocator, threads] = GetParam();
  if (!allocator.installed()) GTEST_SKIP() << allocator.path() << " is not installed";
  Options options;
  options.preload = allocator.path();
  const std::string counts = testing::TempDir() + "/counts." + std::to_string(getpid());
  const Outcome run = RunDrained({Target("churn_threads"), "--counts", counts, "--threads",
                                  std::to_string(threads), "--seconds", "0.2", "--slots", "512"},
                                 options);
  std::remove(counts.c_str());
  ASSERT_EQ(run.status, 0) << run.out;
  ASSERT_EQ(run.processes.size(), 1u);
  const Process& process = run.processes[0];
  ExpectSound(process);
  const Account account = Follow(process.events);
  const Sums sums = SumsOf(run.out);
  ASSERT_GT(sums.allocated_objects, 0u);
  EXPECT_EQ(account.threads.size(), static_cast<size_t>(threads) + 1);
  // The first thread is the main one, which does other things.
  Account::Thread all;
  for (const auto& [token, thread] : account.threads) {
    if (token == process.events.front().token) continue;
    all.allocations += thread.allocations;
    all.allocated_bytes += thread.allocated_bytes;
    all.live_blocks += thread.live_blocks;
    all.live_bytes += thread.live_bytes;
  }
  EXPECT_EQ(all.allocations, sums.allocated_objects);
  EXPECT_EQ(all.allocated_bytes, sums.allocated_bytes);
  EXPECT_EQ(all.live_blocks, static_cast<int64_t>(sums.live_objects));
  EXPECT_EQ(all.live_bytes, static_cast<int64_t>(sums.live_bytes));
}

INSTANTIATE_TEST_SUITE_P(
    Over, Churn, testing::Combine(testing::ValuesIn(kAllocators), testing::Values(1, 8, 64)),
    [](const auto& test) {
      return std::get<0>(test.param).name + std::to_string(std::get<1>(test.param)) + "Threads";
    });

class Program : public testing::TestWithParam<std::tuple<Allocator, const char*>> {};

std::vector<std::string> CommandOf(const char* words) {
  std::istringstream in(words);
  std::vector<std::string> command;
  for (std::string word; in >> word;) command.push_back(command.empty() ? Target(word) : word);
  return command;
}

TEST_P(Program, RunsAsItDoesUntraced) {
  const auto& [allocator, words] = GetParam();
  if (!allocator.installed()) GTEST_SKIP() << allocator.path() << " is not installed";
  const std::vector<std::string> command = CommandOf(words);
  Options untraced;
  untraced.preload = allocator.path();
  untraced.agent = false;
  const Outcome bare = RunDrained(command, untraced);
  Options options;
  options.preload = allocator.path();
  const Outcome run = RunDrained(command, options);
  EXPECT_EQ(run.status, bare.status);
  EXPECT_EQ(run.out, bare.out);
  ASSERT_FALSE(run.processes.empty());
  EXPECT_GT(run.processes[0].events.size(), 100u);
  for (const Process& process : run.processes) {
    EXPECT_FALSE(process.forked);
    ExpectSound(process);
  }
}

std::string NameOf(const Allocator& allocator, std::string words) {
  for (char& c : words) {
    if (!isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return allocator.name + ("_" + words);
}

INSTANTIATE_TEST_SUITE_P(
    Over, Program,
    testing::Combine(testing::ValuesIn(kAllocators),
                     testing::Values("signal_alloc", "signal_alloc --cold", "longjmp_handler",
                                     "fork", "fork_server", "raw_clone", "vfork_exec",
                                     "thread_churn", "exceptions", "coroutines", "operator_new",
                                     "malloc_fail", "late_alloc", "early_alloc", "dlopen_plugin",
                                     "failed_seccomp", "mlockall", "rlimit_fsize", "pass_blocks")),
    [](const auto& test) { return NameOf(std::get<0>(test.param), std::get<1>(test.param)); });

TEST(Traced, AHandlerMayAllocateInTheMiddleOfAnything) {
  Options options;
  options.preload = Target("libsignal_safe_malloc.so");
  const Outcome run = RunDrained({Target("signal_alloc"), "--anywhere"}, options);
  ASSERT_EQ(run.status, 0) << run.out;
  ASSERT_EQ(run.processes.size(), 1u);
  ExpectSound(run.processes[0]);
}

// The handler often leaves the buffer full, or almost.
class SteppedThread : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(SteppedThread, MayBeInterruptedByAHandlerThatAllocatesBetweenAnyTwoInstructions) {
  Options options;
  options.preload = Target("libsignal_safe_malloc.so");
  options.environment = {"HEAPGAUGE_TRACE_BUFFER=1M"};
  std::vector<std::string> command = {Target("signal_each_step"), "10"};
  command.insert(command.end(), GetParam().begin(), GetParam().end());
  const Outcome run = RunDrained(command, options);
  ASSERT_EQ(run.status, 0) << run.out;
  uint64_t by_main = 0, by_handler = 0;
  ASSERT_EQ(run.out.rfind("done ", 0), 0u) << run.out;
  std::istringstream(run.out.substr(5)) >> by_main >> by_handler;
  EXPECT_GT(by_handler, 1000 * by_main);
  ASSERT_EQ(run.processes.size(), 1u);
  uint64_t of_main = 0, of_handler = 0;
  for (const Event& event : run.processes[0].events) {
    if (event.kind != TraceEventKind::kAllocate) continue;
    of_main += event.size == 3001;
    of_handler += event.size == 2001;
  }
  // Where no system call is allowed nobody can wait for room; what is lost is counted.
  const uint64_t lost = run.processes[0].control.lost;
  EXPECT_LE(of_handler, by_handler);
  EXPECT_GE(of_handler + lost, by_handler);
  if (std::count(GetParam().begin(), GetParam().end(), "--seccomp") != 0) return;
  ExpectSound(run.processes[0]);
  EXPECT_EQ(of_main, by_main);
  EXPECT_EQ(of_handler, by_handler);
}

INSTANTIATE_TEST_SUITE_P(Traced, SteppedThread,
                         testing::Values(std::vector<std::string>{},
                                         std::vector<std::string>{"--autodisarm"},
                                         std::vector<std::string>{"--seccomp"},
                                         std::vector<std::string>{"--autodisarm", "--seccomp"}));

TEST(Traced, HandlersOfManyThreadsAreThereOnceAsWell) {
  Options options;
  options.preload = Target("libsignal_safe_malloc.so");
  const Outcome run = RunDrained({Target("signal_threads"), "5000"}, options);
  ASSERT_EQ(run.status, 0) << run.out;
  ASSERT_EQ(run.processes.size(), 1u);
  ExpectSound(run.processes[0]);
  uint64_t allocations = 0, frees = 0;
  ASSERT_EQ(run.out.rfind("done ", 0), 0u) << run.out;
  std::istringstream(run.out.substr(5)) >> allocations >> frees;
  const uint64_t main = run.processes[0].events.front().token;
  for (const Event& event : run.processes[0].events) {
    if (event.token == main) continue;
    allocations -= event.kind == TraceEventKind::kAllocate;
    frees -= event.kind == TraceEventKind::kFree;
  }
  EXPECT_EQ(allocations, 0u);
  EXPECT_EQ(frees, 0u);
  // A thread needs one more for its handlers, not one for each signal.
  EXPECT_LT(run.processes[0].buffers, 400u);
}

TEST(Traced, AFreeComesAfterTheAllocationHoweverShortTheWay) {
  const Outcome run = RunDrained({Target("hand_over")});
  ASSERT_EQ(run.status, 0) << run.out;
  ASSERT_EQ(run.processes.size(), 1u);
  ExpectSound(run.processes[0]);
}

TEST(Traced, ThreadsThatNeedEachOtherDoNotWaitForBuffersThatTheyHold) {
  const Outcome run = RunDrained({Target("meet_without_room")});
  ASSERT_EQ(run.status, 0) << run.out;
  EXPECT_EQ(run.out, "all have met\n");
  ASSERT_EQ(run.processes.size(), 1u);
  EXPECT_TRUE(run.processes[0].broken.empty());
  EXPECT_GT(run.processes[0].control.lost, 0u);
}

TEST(Traced, ByTheMonotonicClockToo) {
  Options options;
  options.clock = "monotonic";
  const Outcome run = RunDrained({Target("pass_blocks")}, options);
  ASSERT_EQ(run.status, 0) << run.out;
  ASSERT_EQ(run.processes.size(), 1u);
  EXPECT_EQ(run.processes[0].control.clock, static_cast<uint32_t>(wire::TraceClock::kMonotonicNs));
  ExpectSound(run.processes[0]);
}

TEST(Traced, ForkedChildrenTraceWhenTold) {
  Options options;
  options.environment = {"HEAPGAUGE_TRACE_FORK=1"};
  const Outcome run = RunDrained({Target("fork")}, options);
  ASSERT_EQ(run.status, 0) << run.out;
  ASSERT_EQ(run.processes.size(), 4u);
  ExpectSound(run.processes[0]);
  for (size_t i = 1; i < run.processes.size(); ++i) {
    const Process& child = run.processes[i];
    EXPECT_TRUE(child.forked);
    EXPECT_TRUE(child.broken.empty()) << child.broken[0];
    EXPECT_EQ(child.control.lost, 0u);
    const Account account = Follow(child.events);
    EXPECT_GT(account.allocations, 1000u);
    EXPECT_EQ(account.twice_allocated, 0u);
    // What the parent had allocated is freed here as well.
    EXPECT_EQ(account.unmatched_ends, 0u);
  }
}

TEST(Traced, AProgramGoesOnWhenItsRecorderDies) {
  const std::string counts = testing::TempDir() + "/counts." + std::to_string(getpid());
  Options options;
  options.drain_for_ms = 300;
  options.environment = {"HEAPGAUGE_TRACE_BUFFER=1M"};
  const Outcome run = RunDrained(
      {Target("churn_threads"), "--counts", counts, "--threads", "4", "--seconds", "7"}, options);
  std::remove(counts.c_str());
  ASSERT_EQ(run.status, 0);
  const Sums sums = SumsOf(run.out);
  ASSERT_EQ(run.processes.size(), 1u);
  const Process& process = run.processes[0];
  EXPECT_EQ(process.control.gave_up, 1u);
  EXPECT_EQ(process.control.tracing, 0u);
  EXPECT_GT(process.control.lost, 0u);
  EXPECT_EQ(process.control.waiting, 0u);
  EXPECT_TRUE(process.broken.empty()) << process.broken[0];
  // It did much more than what could be recorded.
  EXPECT_GT(sums.allocated_objects, process.events.size());
  EXPECT_EQ(Follow(process.events).twice_allocated, 0u);
}

TEST(Traced, EventsAreDroppedWhenTold) {
  const std::string counts = testing::TempDir() + "/counts." + std::to_string(getpid());
  Options options;
  options.drain_for_ms = 0;
  options.environment = {"HEAPGAUGE_TRACE_BUFFER=1M", "HEAPGAUGE_TRACE_DROP=1"};
  const Outcome run = RunDrained(
      {Target("churn_threads"), "--counts", counts, "--threads", "2", "--seconds", "0.5"}, options);
  std::remove(counts.c_str());
  ASSERT_EQ(run.status, 0);
  const Sums sums = SumsOf(run.out);
  ASSERT_EQ(run.processes.size(), 1u);
  const Process& process = run.processes[0];
  EXPECT_EQ(process.control.gave_up, 0u);
  EXPECT_EQ(process.control.waits, 0u);
  // Each call is either there or counted. Some are the main thread's.
  const uint64_t calls = 2 * sums.allocated_objects - sums.live_objects;
  EXPECT_GE(process.control.lost + process.events.size(), calls);
  EXPECT_LT(process.control.lost + process.events.size(), calls + 100);
}

TEST(Traced, MoreThreadsThanBuffersDoNotWaitForEachOther) {
  const std::string counts = testing::TempDir() + "/counts." + std::to_string(getpid());
  Options options;
  options.environment = {"HEAPGAUGE_TRACE_BUFFER=1M"};
  const Outcome run = RunDrained({Target("churn_threads"), "--counts", counts, "--threads", "40",
                                  "--seconds", "0.5", "--slots", "16", "--pause", "50000"},
                                 options);
  std::remove(counts.c_str());
  ASSERT_EQ(run.status, 0);
  ASSERT_EQ(run.processes.size(), 1u);
  ExpectSound(run.processes[0]);
  EXPECT_GE(run.processes[0].buffers, 40u);
  EXPECT_GE(run.processes[0].control.max_buffers, run.processes[0].buffers);
}

TEST(Traced, MappingsWhenTheyAreRecorded) {
  Options options;
  options.environment = {"HEAPGAUGE_MMAP=1"};
  const Outcome run = RunDrained({Target("mmap_calls")}, options);
  ASSERT_EQ(run.status, 0) << run.out;
  ASSERT_EQ(run.processes.size(), 1u);
  uint64_t maps = 0, unmaps = 0;
  for (const Event& event : run.processes[0].events) {
    maps += event.kind == TraceEventKind::kMap;
    unmaps += event.kind == TraceEventKind::kUnmap;
    if (event.kind == TraceEventKind::kMap) {
      EXPECT_NE(event.stack, 0u);
    }
    if (event.kind == TraceEventKind::kMap || event.kind == TraceEventKind::kUnmap) {
      EXPECT_EQ(event.address % 4096, 0u);
      EXPECT_EQ(event.size % 4096, 0u);
    }
  }
  EXPECT_GT(maps, 0u);
  EXPECT_GT(unmaps, 0u);
}

TEST(Traced, StacksCarryTheLabelsOfTheirThread) {
  const Outcome run = RunDrained({Target("label_scopes"), "scopes"});
  ASSERT_EQ(run.status, 0) << run.out;
  ASSERT_EQ(run.processes.size(), 1u);
  ExpectSound(run.processes[0]);
  uint64_t with_labels = 0;
  for (const Event& event : run.processes[0].events) {
    with_labels += run.processes[0].stacks[event.stack].labels != 0;
  }
  EXPECT_GT(with_labels, 0u);
  EXPECT_LT(with_labels, run.processes[0].events.size());
}

// What is asked for is what is written down.
TEST(Traced, TellsSizeFunctionAndAlignment) {
  Options options;
  options.preload = kLibraries + std::string("libjemalloc.so.2");
  if (!std::filesystem::exists(options.preload)) GTEST_SKIP() << "jemalloc is not installed";
  if (!std::filesystem::exists(Target("jemalloc_api"))) GTEST_SKIP() << "jemalloc_api is not built";
  const Outcome run = RunDrained({Target("jemalloc_api")}, options);
  ASSERT_EQ(run.status, 0) << run.out;
  ASSERT_EQ(run.processes.size(), 1u);
  ExpectSound(run.processes[0]);
  uint64_t by_mallocx = 0;
  for (const Event& event : run.processes[0].events) {
    by_mallocx += event.function == static_cast<uint8_t>(wire::AllocationFunction::kMallocx);
    EXPECT_EQ(event.address % (uint64_t{1} << event.alignment_log2), 0u);
  }
  EXPECT_GT(by_mallocx, 0u);
}

TEST(Traced, AFilterForbidsToWait) {
  for (const char* name : {"seccomp_filter", "seccomp_strict"}) {
    const Outcome run = RunDrained({Target(name)});
    Options untraced;
    untraced.agent = false;
    const Outcome bare = RunDrained({Target(name)}, untraced);
    EXPECT_EQ(run.status, bare.status) << name;
    EXPECT_EQ(run.out, bare.out) << name;
    ASSERT_EQ(run.processes.size(), 1u);
    EXPECT_TRUE(run.processes[0].broken.empty()) << run.processes[0].broken[0];
    EXPECT_EQ(run.processes[0].control.waits, 0u);
    EXPECT_EQ(Follow(run.processes[0].events).unmatched_ends, 0u);
  }
}

}  // namespace
}  // namespace heapgauge::trace_test
