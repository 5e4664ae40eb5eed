#include "agent/record/settings.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

namespace heapgauge::agent {
namespace {

std::vector<std::string> Parse(const std::string& text, size_t bytes = 4096, size_t most = 8) {
  std::vector<char> out(bytes);
  std::vector<char*> entries(most + 1);
  const size_t count = ParseSettings(text.c_str(), out.data(), bytes, entries.data(), most);
  EXPECT_EQ(entries[count], nullptr);
  return {entries.begin(), entries.begin() + static_cast<long>(count)};
}

using Lines = std::vector<std::string>;

TEST(ParseSettings, MakesEntriesOfAnEnvironment) {
  EXPECT_EQ(Parse("# comment\n\nsample = 512K\n\thttp=127.0.0.1:9700 \r\ndump_dir =/var/a b\n"),
            (Lines{"HEAPGAUGE_SAMPLE=512K", "HEAPGAUGE_HTTP=127.0.0.1:9700",
                   "HEAPGAUGE_DUMP_DIR=/var/a b"}));
}

TEST(ParseSettings, TakesALastLineWithoutAnEnd) {
  EXPECT_EQ(Parse("active = 1"), Lines{"HEAPGAUGE_ACTIVE=1"});
}

TEST(ParseSettings, WritesSwitchesAsDigits) {
  EXPECT_EQ(Parse("active = on\nmmap = no\ninsecure = false"),
            (Lines{"HEAPGAUGE_ACTIVE=1", "HEAPGAUGE_MMAP=0", "HEAPGAUGE_INSECURE=0"}));
}

TEST(ParseSettings, PassesOverLinesThatMakeNoSense) {
  EXPECT_EQ(Parse("nonsense\n= 3\nSAMPLE = 4\nLD_PRELOAD=x\na b = c\nsample = 1M\n"),
            Lines{"HEAPGAUGE_SAMPLE=1M"});
}

TEST(ParseSettings, StopsWhereTheRoomEnds) {
  EXPECT_EQ(Parse("a = 1\nb = 2\nc = 3\n", 4096, 2), (Lines{"HEAPGAUGE_A=1", "HEAPGAUGE_B=2"}));
  EXPECT_EQ(Parse("a = 1\nb = 2\n", 15), Lines{"HEAPGAUGE_A=1"});
}

class SettingsFile : public testing::Test {
 protected:
  void SetUp() override {
    path_ = testing::TempDir() + "heapgauge-settings-" + std::to_string(getpid());
    Write("sample = 64K\nactive = 0\nhttp = 127.0.0.1:1\n");
  }
  void TearDown() override { std::remove(path_.c_str()); }

  void Write(const std::string& text) {
    std::ofstream(path_) << text;
    ASSERT_EQ(chmod(path_.c_str(), 0600), 0);
  }
  Settings Read(std::vector<std::string> environment) {
    environment.push_back("HEAPGAUGE_CONFIG=" + path_);
    texts_ = std::move(environment);
    vector_.clear();
    for (std::string& text : texts_) vector_.push_back(text.data());
    vector_.push_back(nullptr);
    return ReadSettings(vector_.data());
  }

  std::string path_;
  std::vector<std::string> texts_;
  std::vector<char*> vector_;
};

TEST_F(SettingsFile, IsReadWhereTheEnvironmentSaysNothing) {
  const Settings settings = Read({"HOME=/"});
  EXPECT_EQ(settings.interval, 65536u);
  EXPECT_FALSE(settings.active);
  EXPECT_STREQ(settings.http, "127.0.0.1:1");
}

TEST_F(SettingsFile, LosesAgainstTheEnvironment) {
  const Settings settings = Read({"HEAPGAUGE_SAMPLE=1M", "HEAPGAUGE_HTTP="});
  EXPECT_EQ(settings.interval, 1u << 20);
  EXPECT_STREQ(settings.http, "");
  EXPECT_FALSE(settings.active);
}

TEST_F(SettingsFile, IsIgnoredIfEverybodyMayWriteIt) {
  ASSERT_EQ(chmod(path_.c_str(), 0666), 0);
  EXPECT_EQ(Read({}).interval, wire::kDefaultIntervalBytes);
}

TEST_F(SettingsFile, IsIgnoredIfAnotherUserOwnsIt) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  ASSERT_EQ(chown(path_.c_str(), 12345, 12345), 0);
  EXPECT_EQ(Read({}).interval, wire::kDefaultIntervalBytes);
}

TEST_F(SettingsFile, MayNotBeAPipe) {
  std::remove(path_.c_str());
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_EQ(Read({}).interval, wire::kDefaultIntervalBytes);
}

TEST_F(SettingsFile, IsReadInPartIfItIsHuge) {
  Write("sample = 64K\n" + std::string(1 << 20, '#') + "\nactive = 0\n");
  const Settings settings = Read({});
  EXPECT_EQ(settings.interval, 65536u);
  EXPECT_TRUE(settings.active);
}

}  // namespace
}  // namespace heapgauge::agent
