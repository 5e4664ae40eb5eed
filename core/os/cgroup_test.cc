#include "core/os/process_memory.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace heapgauge {
namespace {

class CgroupFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "heapgauge-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void Write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = root_ + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }

  std::string root_;
};

TEST_F(CgroupFiles, TakesTheGroupWithTheLeastRoom) {
  Write("/proc/self/mountinfo", "30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  Write("/proc/7/cgroup", "0::/a/b/c\n");
  const std::string base = "/sys/fs/cgroup";
  Write(base + "/a/memory.current", "900\n");
  Write(base + "/a/memory.max", "1000\n");
  Write(base + "/a/memory.high", "950\n");
  Write(base + "/a/memory.swap.current", "64\n");
  Write(base + "/a/memory.stat", "anon 5\nactive_file 50\ninactive_file 70\n");
  Write(base + "/a/memory.pressure",
        "some avg10=12.50 avg60=0 avg300=0 total=1\nfull avg10=3.00 \n");
  Write(base + "/a/memory.events", "low 0\noom_kill 3\n");
  Write(base + "/a/b/memory.current", "400\n");
  Write(base + "/a/b/memory.max", "4000\n");
  Write(base + "/a/b/c/memory.current", "300\n");
  Write(base + "/a/b/c/memory.max", "max\n");
  const auto memory = ReadCgroupMemory(7, root_);
  ASSERT_TRUE(memory.has_value());
  EXPECT_EQ(memory->version, 2);
  EXPECT_EQ(memory->path, "/a/b/c");
  EXPECT_EQ(memory->limited_path, "/a");
  EXPECT_EQ(memory->usage, 900u);
  EXPECT_EQ(memory->limit, 1000u);
  EXPECT_EQ(memory->room(), 100u);
  EXPECT_EQ(memory->available(), 220u);
  EXPECT_EQ(memory->high, 950u);
  EXPECT_EQ(memory->swap, 64u);
  EXPECT_EQ(memory->reclaimable, 70u);
  EXPECT_DOUBLE_EQ(memory->pressure_some, 12.5);
  EXPECT_DOUBLE_EQ(memory->pressure_full, 3);
  EXPECT_EQ(memory->oom_kills, 3u);
}

TEST_F(CgroupFiles, ReadsVersionOneInAContainer) {
  Write("/proc/self/mountinfo",
        "30 20 0:26 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
        "31 20 0:27 /docker/x /sys/fs/cgroup/mem\\040ory rw - cgroup cgroup rw,memory\n");
  Write("/proc/7/cgroup", "4:cpu:/\n3:memory:/docker/x\n0::/\n");
  Write("/sys/fs/cgroup/mem ory/memory.usage_in_bytes", "500\n");
  Write("/sys/fs/cgroup/mem ory/memory.limit_in_bytes", "9223372036854771712\n");
  Write("/sys/fs/cgroup/mem ory/memory.stat", "total_inactive_file 7\ntotal_swap 9\n");
  const auto memory = ReadCgroupMemory(7, root_);
  ASSERT_TRUE(memory.has_value());
  EXPECT_EQ(memory->version, 1);
  EXPECT_EQ(memory->usage, 500u);
  EXPECT_FALSE(memory->has_limit());
  EXPECT_EQ(memory->reclaimable, 7u);
  EXPECT_EQ(memory->swap, 9u);
}

TEST_F(CgroupFiles, HasNothingToSayWithoutOne) {
  EXPECT_FALSE(ReadCgroupMemory(7, root_).has_value());
  Write("/proc/self/mountinfo", "garbage\n1 2 - cgroup2\n");
  Write("/proc/7/cgroup", "::::\n\n0::/../../etc\n");
  EXPECT_FALSE(ReadCgroupMemory(7, root_).has_value());
}

}  // namespace
}  // namespace heapgauge
