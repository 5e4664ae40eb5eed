#include "agent/record/process_memory.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace heapgauge::agent {
namespace {

constexpr uint64_t kMb = 1 << 20;

// A made-up /proc/self and cgroup tree.
class FakeProcess : public ::testing::Test {
 protected:
  FakeProcess() {
    std::string pattern = ::testing::TempDir() + "heapgauge.XXXXXX";
    dir_ = mkdtemp(pattern.data());
    proc_ = dir_ + "/proc";
    cgroup_ = dir_ + "/cgroup";
    Write("proc/statm", "1000 500 100 10 0 400 0\n");
    Write("proc/status",
          "Name:\tx\nVmSize:\t 4000 kB\nRssAnon:\t 1600 kB\nRssFile:\t 300 kB\n"
          "RssShmem:\t 100 kB\nVmSwap:\t 8 kB\n");
    memory_.UseProc(proc_.c_str());
  }
  ~FakeProcess() override { std::filesystem::remove_all(dir_); }

  void Write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = dir_ + "/" + name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  void Mount(const std::string& root, const std::string& type, const std::string& options) const {
    std::ofstream(proc_ + "/mountinfo", std::ios::app)
        << "21 20 0:5 / /proc rw - proc proc rw\n32 31 0:29 " << root << " " << cgroup_
        << " rw,relatime shared:9 - " << type << " cgroup " << options << "\n";
  }
  MemoryUse Look(uint64_t now_ns = 1) { return memory_.Look(now_ns).cgroup; }

  std::string dir_, proc_, cgroup_;
  ProcessMemoryReader memory_{};
};

TEST_F(FakeProcess, FindsTheLimitOfVersion2) {
  Mount("/", "cgroup2", "rw");
  Write("proc/cgroup", "0::/a/b\n");
  Write("cgroup/a/b/memory.max", "1048576000\n");
  Write("cgroup/a/b/memory.current", "104857600\n");
  EXPECT_EQ(Look().limit, 1000 * kMb);
  EXPECT_EQ(Look().used, 100 * kMb);
}

TEST_F(FakeProcess, FindsTheLimitOfVersion1AmongOthers) {
  Mount("/", "cgroup", "rw,cpu");
  Mount("/", "cgroup", "rw,memory");
  Mount("/", "cgroup2", "rw");
  Write("proc/cgroup", "5:cpu:/elsewhere\n4:name,memory:/a\n0::/elsewhere\n");
  Write("cgroup/a/memory.limit_in_bytes", "1048576000\n");
  Write("cgroup/a/memory.usage_in_bytes", "104857600\n");
  EXPECT_EQ(Look().limit, 1000 * kMb);
  EXPECT_EQ(Look().used, 100 * kMb);
}

TEST_F(FakeProcess, TheGroupWithTheLeastRoomCounts) {
  Mount("/", "cgroup2", "rw");
  Write("proc/cgroup", "0::/pod/container\n");
  Write("cgroup/pod/container/memory.max", "max\n");
  Write("cgroup/pod/container/memory.current", "1000\n");
  Write("cgroup/pod/memory.max", "500000\n");
  Write("cgroup/pod/memory.current", "400000\n");
  Write("cgroup/memory.max", "900000\n");
  Write("cgroup/memory.current", "450000\n");
  EXPECT_EQ(Look().limit, 500000u);
}

TEST_F(FakeProcess, InAContainerTheMountIsTheGroup) {
  // Version 1 without a cgroup namespace: the name is that of the host.
  Mount("/docker/0123", "cgroup", "rw,memory");
  Write("proc/cgroup", "4:memory:/docker/0123\n");
  Write("cgroup/memory.limit_in_bytes", "700000\n");
  Write("cgroup/memory.usage_in_bytes", "100\n");
  EXPECT_EQ(Look().limit, 700000u);
}

TEST_F(FakeProcess, AGroupOutsideOfTheMountFallsBackToIt) {
  Mount("/", "cgroup2", "rw");
  Write("proc/cgroup", "0::/../../other\n");
  Write("cgroup/memory.max", "700000\n");
  EXPECT_EQ(Look().limit, 700000u);
}

TEST_F(FakeProcess, NoLimitIsNone) {
  Mount("/", "cgroup", "rw,memory");
  Write("proc/cgroup", "4:memory:/\n");
  Write("cgroup/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(Look().limit, 0u);
}

TEST_F(FakeProcess, FilePagesDoNotCountNearTheLimit) {
  Mount("/", "cgroup2", "rw");
  Write("proc/cgroup", "0::/\n");
  Write("cgroup/memory.max", "1000000\n");
  Write("cgroup/memory.current", "990000\n");
  Write("cgroup/memory.stat",
        "anon 100000\nfile 800000\ninactive_file 600000\nactive_file 190000\n");
  EXPECT_EQ(Look().used, 200000u);
}

TEST_F(FakeProcess, ALimitThatChangesIsSeenWithinASecondOrSo) {
  Mount("/", "cgroup2", "rw");
  Write("proc/cgroup", "0::/\n");
  Write("cgroup/memory.max", "1000\n");
  Write("cgroup/memory.current", "10\n");
  EXPECT_EQ(Look(1).limit, 1000u);
  Write("cgroup/memory.max", "2000\n");
  EXPECT_EQ(Look(3'000'000'000).limit, 2000u);
}

TEST_F(FakeProcess, NonsenseIsNothing) {
  Write("proc/statm", "x");
  EXPECT_EQ(Look().limit, 0u) << "no mountinfo";
  ProcessMemoryReader other{};
  other.UseProc(proc_.c_str());
  std::string noise;
  for (int i = 0; i < 20000; ++i) noise += static_cast<char>(i * 7919 >> 3);
  Write("proc/mountinfo", noise + "\n - \n - cgroup2\n1 2 3 4 5 - cgroup2 a b\n" + noise);
  Write("proc/cgroup", noise + "0::" + noise);
  Write("proc/statm", noise);
  Write("proc/status", noise);
  EXPECT_EQ(other.Look(1).cgroup.limit, 0u);
  wire::ProcessMemory described{};
  other.Describe(1, &described);
}

TEST_F(FakeProcess, LongLinesAreSkipped) {
  std::ofstream(proc_ + "/mountinfo") << "1 2 3 " << std::string(30000, 'x') << "\n";
  Mount("/", "cgroup2", "rw");
  Write("proc/cgroup", "0::/\n");
  Write("cgroup/memory.max", "1000\n");
  EXPECT_EQ(Look().limit, 1000u);
}

TEST_F(FakeProcess, DescribesTheProcess) {
  wire::ProcessMemory described{};
  memory_.Describe(1, &described);
  EXPECT_EQ(described.resident_bytes, 500u * 4096);
  EXPECT_EQ(described.anonymous_bytes, 1600u * 1024);
  EXPECT_EQ(described.file_bytes, 300u * 1024);
  EXPECT_EQ(described.shared_bytes, 100u * 1024);
  EXPECT_EQ(described.swapped_bytes, 8u * 1024);
  EXPECT_EQ(described.address_space_bytes, 4000u * 1024);
}

TEST(ProcessMemoryReader, TheRealOneHasMemory) {
  ProcessMemoryReader memory{};
  wire::ProcessMemory described{};
  memory.Describe(1, &described);
  EXPECT_GT(described.resident_bytes, 100'000u);
  EXPECT_GE(described.address_space_bytes, described.resident_bytes);
  EXPECT_GT(memory.Look(2).machine.limit, described.resident_bytes);
}

}  // namespace
}  // namespace heapgauge::agent
