#include "agent/sys/environment.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "agent/testing/environment_list.h"

namespace heapgauge::agent {
namespace {

TEST(ParseSize, UnderstandsUnits) {
  const struct {
    const char* text;
    uint64_t size;
  } cases[] = {{"0", 0},
               {"4096", 4096},
               {"512K", 524288},
               {"512k", 524288},
               {"512KiB", 524288},
               {"1M", 1 << 20},
               {"1MB", 1 << 20},
               {"2G", uint64_t{2} << 30},
               {"1T", uint64_t{1} << 40},
               {"7B", 7}};
  for (const auto& c : cases) {
    uint64_t size = 99;
    EXPECT_TRUE(ParseSize(c.text, &size)) << c.text;
    EXPECT_EQ(size, c.size) << c.text;
  }
}

TEST(ParseSize, RejectsEverythingElse) {
  for (const char* text : {"", "K", "-1", " 1", "1 ", "1KK", "1iB", "0x10", "99999999999999999999",
                           "18446744073709551615K", "1.5M"}) {
    uint64_t size;
    EXPECT_FALSE(ParseSize(text, &size)) << text;
  }
}

TEST(Settings, ComeFromTheEnvironment) {
  EnvironmentList environment({"HEAPGAUGE_SAMPLE=64K", "HEAPGAUGE_ACTIVE=0",
                               "HEAPGAUGE_DIR=/somewhere", "HEAPGAUGE_FOLLOW_EXEC=0",
                               "HEAPGAUGE_MAX_RATE=100", "HEAPGAUGE_OUT=/x.hg",
                               "HEAPGAUGE_OUT_PID=17", "HEAPGAUGE_SEED=5"});
  const Settings settings = ReadSettings(environment.get());
  EXPECT_EQ(settings.interval, 65536u);
  EXPECT_FALSE(settings.active);
  EXPECT_FALSE(settings.follow_exec);
  EXPECT_EQ(settings.max_samples_per_second, 100u);
  EXPECT_STREQ(settings.directory, "/somewhere");
  EXPECT_STREQ(settings.out_file, "/x.hg");
  EXPECT_EQ(settings.out_pid, 17u);
  EXPECT_EQ(settings.seed, 5u);
}

TEST(Settings, OfATraceComeFromTheEnvironment) {
  EnvironmentList environment({"HEAPGAUGE_TRACE=1", "HEAPGAUGE_TRACE_DROP=1",
                               "HEAPGAUGE_TRACE_FORK=1", "HEAPGAUGE_TRACE_CLOCK=tsc",
                               "HEAPGAUGE_TRACE_BUFFER=2M", "HEAPGAUGE_TRACE_RECORDER=4711",
                               "HEAPGAUGE_TRACE_NAMESPACE=4026531836"});
  const TraceSettings settings = ReadSettings(environment.get()).trace;
  EXPECT_TRUE(settings.on);
  EXPECT_TRUE(settings.drops);
  EXPECT_TRUE(settings.follows_fork);
  EXPECT_EQ(settings.clock, wire::TraceClock::kCycleCounter);
  EXPECT_EQ(settings.max_buffers(), 32u);
  EXPECT_EQ(settings.recorder_pid, 4711u);
  EXPECT_EQ(settings.recorder_namespace, 4026531836u);
}

TEST(Settings, OfATraceKeepWithinTheirBounds) {
  EnvironmentList small({"HEAPGAUGE_TRACE_BUFFER=1"});
  EXPECT_EQ(ReadSettings(small.get()).trace.max_buffers(), 16u);
  EnvironmentList large({"HEAPGAUGE_TRACE_BUFFER=1T"});
  EXPECT_EQ(ReadSettings(large.get()).trace.max_buffers(), 4096u);
  EnvironmentList nonsense({"HEAPGAUGE_TRACE=yes", "HEAPGAUGE_TRACE_CLOCK=sun",
                            "HEAPGAUGE_TRACE_BUFFER=much", "HEAPGAUGE_TRACE_DROP=2"});
  const TraceSettings settings = ReadSettings(nonsense.get()).trace;
  EXPECT_FALSE(settings.on);
  EXPECT_FALSE(settings.drops);
  EXPECT_EQ(settings.clock, wire::TraceClock::kMonotonicNs);
  EXPECT_EQ(settings.max_buffers(), 256u);
}

TEST(Settings, MappingsAreRecordedInGperftoolsWordsToo) {
  EnvironmentList with({"HEAPPROFILE=/tmp/x", "HEAP_PROFILE_MMAP=true"});
  EXPECT_TRUE(ReadSettings(with.get()).record_mappings);
  EnvironmentList only({"HEAPPROFILE=/tmp/x", "HEAP_PROFILE_ONLY_MMAP=1"});
  EXPECT_TRUE(ReadSettings(only.get()).record_mappings);
  EnvironmentList off({"HEAPPROFILE=/tmp/x", "HEAP_PROFILE_MMAP=false"});
  EXPECT_FALSE(ReadSettings(off.get()).record_mappings);
  EnvironmentList no_profiler({"HEAP_PROFILE_MMAP=true"});
  EXPECT_FALSE(ReadSettings(no_profiler.get()).record_mappings);
  EnvironmentList ours({"HEAPPROFILE=/tmp/x", "HEAP_PROFILE_MMAP=true", "HEAPGAUGE_MMAP=0"});
  EXPECT_FALSE(ReadSettings(ours.get()).record_mappings);
}

TEST(Settings, NonsenseLeavesTheDefaults) {
  EnvironmentList environment(
      {"HEAPGAUGE_SAMPLE=lots", "HEAPGAUGE_ACTIVE=yes", "HEAPGAUGE_MAX_RATE=-1"});
  const Settings settings = ReadSettings(environment.get());
  EXPECT_EQ(settings.interval, wire::kDefaultIntervalBytes);
  EXPECT_TRUE(settings.active);
  EXPECT_EQ(settings.max_samples_per_second, wire::kDefaultMaxSamplesPerSecond);
}

TEST(RemoveFromEnvironment, LeavesOthersPreloadsAlone) {
  EnvironmentList environment({"A=1",
                               "LD_PRELOAD=/opt/lib/libheapgauge.so:/lib/libjemalloc.so.2 other.so",
                               "HEAPGAUGE_SAMPLE=4K", "B=2"});
  RemoveFromEnvironment(environment.get());
  EXPECT_EQ(environment.Left(),
            (std::vector<std::string>{"A=1", "LD_PRELOAD=/lib/libjemalloc.so.2:other.so", "B=2"}));
}

TEST(RemoveFromEnvironment, DropsAnEmptyPreload) {
  EnvironmentList environment({"LD_PRELOAD=/opt/lib/libheapgauge.so", "B=2"});
  RemoveFromEnvironment(environment.get());
  EXPECT_EQ(environment.Left(), (std::vector<std::string>{"B=2"}));
}

}  // namespace
}  // namespace heapgauge::agent
