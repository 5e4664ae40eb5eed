#include "core/base/memory_limits.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace heapgauge {
namespace {

TEST(MemoryLimits, OfThisProcess) {
  const auto limits = ReadMemoryLimits(static_cast<uint32_t>(getpid()));
  ASSERT_TRUE(limits);
  EXPECT_GT(limits->resident_bytes, 100'000u);
  EXPECT_GE(limits->address_space_bytes, limits->resident_bytes);
  EXPECT_GT(limits->machine_bytes, limits->resident_bytes);
  EXPECT_GT(limits->Share(), 0);
}

TEST(MemoryLimits, SeeTheLimitOfAnotherProcess) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit{rlim_t{1} << 50, rlim_t{1} << 50};
    setrlimit(RLIMIT_AS, &limit);
    kill(getpid(), SIGSTOP);
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, WUNTRACED), child);
  const auto limits = ReadMemoryLimits(static_cast<uint32_t>(child));
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  ASSERT_TRUE(limits);
  EXPECT_EQ(limits->address_space_limit, uint64_t{1} << 50);
  EXPECT_FALSE(ReadMemoryLimits(static_cast<uint32_t>(child)));
}

TEST(MemoryLimits, TheNearestLimitCounts) {
  MemoryLimits limits;
  EXPECT_EQ(limits.Share(), 0);
  limits.resident_bytes = 30;
  limits.machine_bytes = 100;
  EXPECT_DOUBLE_EQ(limits.Share(), 0.3);
  limits.address_space_bytes = 80;
  limits.address_space_limit = 100;
  EXPECT_DOUBLE_EQ(limits.Share(), 0.8);
  limits.cgroup_bytes = 90;
  limits.cgroup_limit = 100;
  EXPECT_DOUBLE_EQ(limits.Share(), 0.9);
}

}  // namespace
}  // namespace heapgauge
