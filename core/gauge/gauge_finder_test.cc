#include "core/gauge/gauge_finder.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "core/gauge/testing/gauge_builder.h"
#include "core/os/process.h"

namespace heapgauge::trace {
namespace {

using testing::GaugeBuilder;

class FindingGaugeFiles : public ::testing::Test {
 protected:
  FindingGaugeFiles() {
    std::string name = (std::filesystem::temp_directory_path() / "finder.XXXXXX").string();
    directory_ = mkdtemp(name.data());
  }
  ~FindingGaugeFiles() override { std::filesystem::remove_all(directory_); }

  void Make(const std::string& name, uint32_t pid, uint32_t parent, uint64_t start_ns) {
    GaugeBuilder builder;
    builder.header().pid = pid;
    builder.header().parent_pid = parent;
    builder.header().start_realtime_ns = start_ns;
    builder.WriteTo(directory_ + "/" + name);
  }
  std::vector<std::string> New(GaugeFinder* finder) const {
    std::vector<std::string> names;
    for (const GaugeOwner& owner : finder->FindNew(kProgram)) {
      names.push_back(owner.path.substr(directory_.size() + 1));
    }
    return names;
  }

  static constexpr uint32_t kProgram = 0x7ffffff0;  // nobody has this number
  std::string directory_;
};

using Names = std::vector<std::string>;

TEST_F(FindingGaugeFiles, OfTheProgramAndItsChildrenOnce) {
  GaugeFinder finder(directory_);
  const uint64_t now = RealtimeNow();
  EXPECT_EQ(New(&finder), Names());
  Make("child.2.hg", kProgram + 1, kProgram, now + 2);
  Make("server.1.hg", kProgram, 1, now + 1);
  Make("other.3.hg", kProgram + 5, kProgram + 6, now + 3);
  EXPECT_EQ(New(&finder), (Names{"server.1.hg", "child.2.hg"}));
  EXPECT_EQ(New(&finder), Names());
  Make("grandchild.4.hg", kProgram + 2, kProgram + 1, now + 4);
  EXPECT_EQ(New(&finder), Names{"grandchild.4.hg"});
}

TEST_F(FindingGaugeFiles, AFileThatNamesItsRecorderIsOursOrNot) {
  GaugeFinder finder(directory_);
  const auto make = [&](const std::string& name, uint32_t parent, uint32_t recorder) {
    GaugeBuilder builder;
    builder.header().pid = kProgram + 1;
    builder.header().parent_pid = parent;
    builder.header().start_realtime_ns = RealtimeNow();
    builder.header().recorder_pid = recorder;
    builder.WriteTo(directory_ + "/" + name);
  };
  make("orphan.1.hg", 1, static_cast<uint32_t>(getpid()));
  make("of_another_recorder.2.hg", kProgram, static_cast<uint32_t>(getpid()) + 1);
  EXPECT_EQ(New(&finder), Names{"orphan.1.hg"});
}

TEST_F(FindingGaugeFiles, NotThoseFromBefore) {
  Make("old.1.hg", kProgram, 1, RealtimeNow() - 10'000'000'000);
  GaugeFinder finder(directory_);
  EXPECT_EQ(New(&finder), Names());
}

TEST_F(FindingGaugeFiles, AFileThatWasRenamedIsNotNewAndTheOneInItsPlaceIs) {
  GaugeFinder finder(directory_);
  Make("server.1.hg", kProgram, 1, RealtimeNow());
  EXPECT_EQ(New(&finder), Names{"server.1.hg"});
  std::filesystem::rename(directory_ + "/server.1.hg", directory_ + "/server.1.hg.1");
  EXPECT_EQ(New(&finder), Names());
  Make("server.1.hg", kProgram, 1, RealtimeNow());
  EXPECT_EQ(New(&finder), Names{"server.1.hg"});
}

TEST_F(FindingGaugeFiles, AnotherFileWithTheInodeOfOneThatIsGoneIsNew) {
  GaugeFinder finder(directory_);
  const uint64_t now = RealtimeNow();
  Make("first.1.hg", kProgram, 1, now + 1);
  EXPECT_EQ(New(&finder), Names{"first.1.hg"});
  // As a file system does it that gives the next file the inode of the last one removed.
  std::filesystem::rename(directory_ + "/first.1.hg", directory_ + "/second.2.hg");
  Make("second.2.hg", kProgram + 1, kProgram, now + 2);
  EXPECT_EQ(New(&finder), Names{"second.2.hg"});
  EXPECT_EQ(New(&finder), Names());
}

TEST_F(FindingGaugeFiles, ForkedChildrenAreToldApartThoughTheyShareAStartAndAnInode) {
  GaugeFinder finder(directory_);
  const uint64_t start = RealtimeNow();
  Make("server.2.hg", kProgram + 1, kProgram, start);
  EXPECT_EQ(New(&finder), Names{"server.2.hg"});
  std::filesystem::rename(directory_ + "/server.2.hg", directory_ + "/server.3.hg");
  Make("server.3.hg", kProgram + 2, kProgram, start);
  EXPECT_EQ(New(&finder), Names{"server.3.hg"});
  EXPECT_EQ(New(&finder), Names());
}

TEST_F(FindingGaugeFiles, WaitsForOneThatIsNotFinished) {
  GaugeFinder finder(directory_);
  GaugeBuilder builder;
  builder.header().pid = kProgram;
  builder.header().start_realtime_ns = RealtimeNow();
  const std::string bytes = builder.Build();
  const std::string path = directory_ + "/server.1.hg";
  const int fd = open(path.c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(ftruncate(fd, static_cast<off_t>(bytes.size())), 0);
  EXPECT_EQ(New(&finder), Names());
  ASSERT_EQ(pwrite(fd, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  EXPECT_EQ(New(&finder), Names{"server.1.hg"});
  close(fd);
}

TEST_F(FindingGaugeFiles, RemovesTheFileWhateverItIsCalledNow) {
  Make("server.1.hg", kProgram, 1, RealtimeNow());
  const int fd = open((directory_ + "/server.1.hg").c_str(), O_RDWR);
  ASSERT_GE(fd, 0);
  std::filesystem::rename(directory_ + "/server.1.hg", directory_ + "/server.1.hg.1");
  Make("server.1.hg", kProgram, 1, RealtimeNow());
  RemoveGauge(fd, directory_ + "/server.1.hg");
  close(fd);
  EXPECT_TRUE(std::filesystem::exists(directory_ + "/server.1.hg"));
  EXPECT_FALSE(std::filesystem::exists(directory_ + "/server.1.hg.1"));
}

}  // namespace
}  // namespace heapgauge::trace
