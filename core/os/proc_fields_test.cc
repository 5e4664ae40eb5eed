#include "core/os/proc_fields.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <string>

namespace heapgauge {
namespace {

constexpr std::string_view kStat = "42 (a) b (c) Z 7 8 -9 10";
constexpr std::string_view kStatus =
    "Name:\tNSpid:\t5\nUid:\t1\t2\t3\t4\nNSpid:\t42\t17\t3\nSigBlk:\t00ff\nVmRSS:\t  12 kB\n";

TEST(ProcFields, OfStatAreCountedBehindTheName) {
  EXPECT_EQ(StatField(kStat, 4), 7);
  EXPECT_EQ(StatField(kStat, 6), -9);
  EXPECT_EQ(StatField(kStat, 7), 10);
  EXPECT_EQ(StatField(kStat, 8), -1);
  EXPECT_EQ(StatField("", 4), -1);
  EXPECT_EQ(StatField("1 (x) ", 4), -1);
}

TEST(ProcFields, OfStatusHaveNames) {
  EXPECT_EQ(StatusField(kStatus, "Name"), "NSpid:\t5");
  EXPECT_EQ(StatusField(kStatus, "Uid"), "1\t2\t3\t4");
  EXPECT_EQ(StatusField(kStatus, "VmRSS"), "12 kB");
  EXPECT_EQ(StatusField(kStatus, "Vm"), "");
  EXPECT_EQ(StatusField("", "Name"), "");
  EXPECT_EQ(StatusField("Seccomp:\t", "Seccomp"), "");
}

TEST(ProcFields, TheInnermostNumberIsTheLast) {
  EXPECT_EQ(InnermostPid(kStatus), 3U);
  EXPECT_EQ(InnermostPid("NSpid:\t8\n"), 8U);
  EXPECT_EQ(InnermostPid("Pid:\t8\n"), 0U);
}

TEST(ProcFields, TheStateComesBehindTheName) {
  EXPECT_EQ(StatState(kStat), 'Z');
  EXPECT_EQ(StatState("1 (x) "), '\0');
  EXPECT_EQ(StatState(""), '\0');
}

TEST(ProcFields, SizesAreBytes) {
  EXPECT_EQ(StatusBytes(kStatus, "VmRSS"), 12U << 10);
  EXPECT_EQ(StatusBytes(kStatus, "VmSize"), 0U);
  EXPECT_EQ(StatusBytes("VmRSS:\t99999999999999 kB\n", "VmRSS"), 0U);
}

TEST(ProcFields, ALimitMayBeNone) {
  constexpr std::string_view kLimits =
      "Limit                     Soft Limit           Hard Limit           Units     \n"
      "Max file size             unlimited            unlimited            bytes     \n"
      "Max stack size            8388608              unlimited            bytes     \n";
  EXPECT_EQ(SoftLimit(kLimits, "Max stack size"), 8U << 20);
  EXPECT_EQ(SoftLimit(kLimits, "Max file size"), std::nullopt);
  EXPECT_EQ(SoftLimit(kLimits, "Max open files"), std::nullopt);
  EXPECT_EQ(SoftLimit("Max stack size", "Max stack size"), std::nullopt);
}

TEST(ProcFields, ADirectoryListsNumbers) {
  const auto self = static_cast<uint32_t>(getpid());
  const auto threads = NumbersIn("/proc/self/task");
  ASSERT_TRUE(threads);
  EXPECT_NE(std::find(threads->begin(), threads->end(), self), threads->end());
  const auto processes = NumbersIn("/proc");
  ASSERT_TRUE(processes);
  EXPECT_NE(std::find(processes->begin(), processes->end(), self), processes->end());
  EXPECT_FALSE(NumbersIn("/proc/self/none"));
}

TEST(ProcFields, WhatHasEndedHasNone) {
  EXPECT_EQ(ReadStat("/proc/none"), "");
  EXPECT_EQ(ReadStatus("/proc/none"), "");
  EXPECT_EQ(TaskName("/proc/none"), "");
  EXPECT_EQ(LinkTarget("/proc/none/exe"), "");
  EXPECT_TRUE(ChildrenOf("/proc/none").empty());
  EXPECT_EQ(TaskName("/proc/self").find('\n'), std::string::npos);
}

}  // namespace
}  // namespace heapgauge
