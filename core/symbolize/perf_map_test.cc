#include "core/symbolize/symbolizer.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

namespace heapgauge {
namespace {

TEST(PerfMap, FindsFunctionsByAddress) {
  const PerfMap map =
      PerfMap::Parse("7f0010 20 LazyCompile:~add app.js:3\n0x7f0100 0x10 Builtin\n");
  EXPECT_EQ(map.Find(0x7f0010), "LazyCompile:~add app.js:3");
  EXPECT_EQ(map.Find(0x7f002f), "LazyCompile:~add app.js:3");
  EXPECT_EQ(map.Find(0x7f0030), "");
  EXPECT_EQ(map.Find(0x7f0108), "Builtin");
  EXPECT_EQ(map.Find(0), "");
}

TEST(PerfMap, TheLastOfTwoFunctionsAtOneAddressIsThere) {
  const PerfMap map = PerfMap::Parse("1000 10 old\n2000 10 other\n1000 40 new\n");
  EXPECT_EQ(map.size(), 2u);
  EXPECT_EQ(map.Find(0x1020), "new");
}

TEST(PerfMap, LinesWithoutSenseAreLeftOut) {
  const PerfMap map = PerfMap::Parse(
      "\n \nzz 10 a\n1000\n1000 \n1000 10\n1000 10 \n2000 0 empty\nffffffffffffffff 10 wraps\n"
      "11112222333344445 10 too long\n-1 5 minus\n3000 10 good");
  EXPECT_EQ(map.size(), 1u);
  EXPECT_EQ(map.Find(0x3000), "good");
}

TEST(PerfMap, IsReadForAProcessIfItIsNewerThanThat) {
  const uint32_t pid = static_cast<uint32_t>(getpid());
  const std::string path = "/tmp/perf-" + std::to_string(pid) + ".map";
  std::ofstream(path) << "1000 10 jitted\n";
  const auto map = PerfMap::Load(pid, getuid(), true, 0);
  const auto old = PerfMap::Load(pid, getuid(), true, uint64_t{4'000'000'000} * 1'000'000'000);
  std::remove(path.c_str());
  ASSERT_TRUE(map) << map.error().message;
  EXPECT_EQ(map->Find(0x1001), "jitted");
  ASSERT_FALSE(old);
  EXPECT_NE(old.error().message.find("older"), std::string::npos);
  EXPECT_FALSE(PerfMap::Load(pid, getuid(), true, 0));
}

TEST(PerfMap, ALinkInTmpIsNotFollowed) {
  const uint32_t pid = static_cast<uint32_t>(getpid());
  const std::string path = "/tmp/perf-" + std::to_string(pid) + ".map";
  ASSERT_EQ(symlink("/etc/passwd", path.c_str()), 0);
  const auto map = PerfMap::Load(pid, getuid(), false, 0);
  std::remove(path.c_str());
  EXPECT_FALSE(map);
}

}  // namespace
}  // namespace heapgauge
