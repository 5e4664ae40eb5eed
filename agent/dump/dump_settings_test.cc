#include "agent/dump/dump_settings.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "agent/testing/environment_list.h"

namespace heapgauge::agent {
namespace {

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
