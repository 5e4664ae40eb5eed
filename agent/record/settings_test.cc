#include "agent/record/settings.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "agent/testing/environment_list.h"

namespace heapgauge::agent {
namespace {

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

TEST(DumpSettings, WithoutThemThereAreNoDumps) {
  EnvironmentList environment({"PATH=/bin"});
  EXPECT_FALSE(ReadDumpSettings(environment.get()).any());
  EXPECT_FALSE(ReadDumpSettings(nullptr).any());
}

TEST(DumpSettings, ComeFromTheEnvironment) {
  EnvironmentList environment(
      {"HEAPGAUGE_DUMP_EXIT=1", "HEAPGAUGE_DUMP_ALLOCATED=1G", "HEAPGAUGE_DUMP_GROWTH=100M",
       "HEAPGAUGE_DUMP_SECONDS=60", "HEAPGAUGE_DUMP_LIMIT=80", "HEAPGAUGE_DUMP_DIR=/d",
       "HEAPGAUGE_DUMP_PREFIX=/p/x", "HEAPGAUGE_DUMP_KEEP=5", "HEAPGAUGE_VERBOSE=1"});
  const DumpSettings s = ReadDumpSettings(environment.get());
  EXPECT_TRUE(s.any());
  EXPECT_TRUE(s.at_exit);
  EXPECT_EQ(s.allocated, uint64_t{1} << 30);
  EXPECT_EQ(s.growth, uint64_t{100} << 20);
  EXPECT_EQ(s.seconds, 60u);
  EXPECT_EQ(s.limit_percent, 80u);
  EXPECT_EQ(s.keep, 5u);
  EXPECT_TRUE(s.verbose);
  EXPECT_STREQ(s.directory, "/d");
  EXPECT_STREQ(s.prefix, "/p/x");
  EXPECT_STREQ(s.ignored, "");
}

TEST(DumpSettings, WhatMakesNoSenseIsIgnoredAndNamed) {
  EnvironmentList environment({"HEAPGAUGE_DUMP_LIMIT=100", "HEAPGAUGE_DUMP_KEEP=-1",
                               "HEAPGAUGE_DUMP_EXIT=yes", "HEAPGAUGE_DUMP_SECONDS=1.5"});
  const DumpSettings s = ReadDumpSettings(environment.get());
  EXPECT_FALSE(s.any());
  EXPECT_EQ(s.keep, DumpSettings::kDefaultKeep);
  EXPECT_STREQ(s.ignored, "HEAPGAUGE_DUMP_EXIT=yes");
}

}  // namespace
}  // namespace heapgauge::agent
