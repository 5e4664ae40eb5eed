#include "core/os/proc_fields.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace heapgauge
