#include "core/os/process_memory.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace heapgauge {
namespace {

TEST(ProcessMemory, OfThisProcess) {
  const auto memory = ReadProcessMemory(static_cast<uint32_t>(getpid()));
  ASSERT_TRUE(memory);
  EXPECT_GT(memory->resident_bytes, 100'000u);
  EXPECT_GE(memory->address_space_bytes, memory->resident_bytes);
  EXPECT_GT(ShareOfLimit(*memory, 1), 0);
}

TEST(ProcessMemory, SeeTheLimitOfAnotherProcess) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit{rlim_t{1} << 50, rlim_t{1} << 50};
    setrlimit(RLIMIT_AS, &limit);
    kill(getpid(), SIGSTOP);
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, WUNTRACED), child);
  const auto memory = ReadProcessMemory(static_cast<uint32_t>(child));
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->address_space_limit, uint64_t{1} << 50);
  EXPECT_FALSE(ReadProcessMemory(static_cast<uint32_t>(child)));
}

TEST(ProcessMemory, TheNearestLimitCounts) {
  wire::ProcessMemory memory{};
  EXPECT_EQ(ShareOfLimit(memory, 100), 0);
  memory.resident_bytes = 30;
  EXPECT_DOUBLE_EQ(ShareOfLimit(memory, 100), 0.3);
  memory.address_space_bytes = 80;
  memory.address_space_limit = 100;
  EXPECT_DOUBLE_EQ(ShareOfLimit(memory, 100), 0.8);
  memory.cgroup_bytes = 90;
  memory.cgroup_limit = 100;
  EXPECT_DOUBLE_EQ(ShareOfLimit(memory, 100), 0.9);
}

}  // namespace
}  // namespace heapgauge
