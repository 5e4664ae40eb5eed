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
