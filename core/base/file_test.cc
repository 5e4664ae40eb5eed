#include "core/base/file.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "core/os/process.h"

namespace heapgauge {
namespace {

class FileTest : public ::testing::Test {
 protected:
  FileTest() {
    std::string pattern = ::testing::TempDir() + "heapgauge.XXXXXX";
    dir_ = mkdtemp(pattern.data());
  }
  ~FileTest() override { std::filesystem::remove_all(dir_); }
  std::string dir_;
};

TEST_F(FileTest, WritesAreSeenWhole) {
  const std::string path = dir_ + "/a";
  ASSERT_TRUE(WriteWholeFile(path, "hello"));
  ASSERT_TRUE(WriteWholeFile(path, "bye"));
  EXPECT_EQ(ReadWholeFile(path, 100).value_or(""), "bye");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir_), {}), 1)
      << "no temporary is left";
}

TEST_F(FileTest, ReadsPastTheEndComeBackShort) {
  const std::string path = dir_ + "/a";
  ASSERT_TRUE(WriteWholeFile(path, "hello"));
  const auto file = File::OpenForReading(path);
  ASSERT_TRUE(file);
  char buffer[8] = {};
  EXPECT_EQ(file->ReadAt(3, buffer, sizeof buffer), 2u);
  EXPECT_EQ(file->ReadAt(100, buffer, sizeof buffer), 0u);
  ASSERT_EQ(truncate(path.c_str(), 1), 0);
  EXPECT_EQ(file->ReadAt(0, buffer, sizeof buffer), 1u) << "a file that shrinks is no signal";
  EXPECT_EQ(file->Size(), 1u);
}

TEST_F(FileTest, RefusesWhatIsNoRegularFile) {
  const std::string fifo = dir_ + "/fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const auto file = File::OpenForReading(fifo);  // and does not wait for a writer
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, ErrorCode::kNotRecognized);
  EXPECT_FALSE(File::OpenForReading(dir_));
  EXPECT_FALSE(File::OpenForReading("/dev/zero"));
}

TEST_F(FileTest, ErrorsSayWhichFileAndWhy) {
  const auto file = File::OpenForReading(dir_ + "/none");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, ErrorCode::kNotFound);
  EXPECT_NE(file.error().message.find("/none"), std::string::npos);
  EXPECT_NE(file.error().message.find("No such file"), std::string::npos);
  EXPECT_FALSE(WriteWholeFile(dir_ + "/no/such/dir", "x"));
  EXPECT_FALSE(WriteWholeFile(dir_, "x"));
}

TEST(Process, KnowsItself) {
  const uint32_t self = static_cast<uint32_t>(getpid());
  const auto info = ReadProcess(self);
  ASSERT_TRUE(info);
  EXPECT_EQ(info->parent, static_cast<uint32_t>(getppid()));
  EXPECT_GT(info->start_ticks, 0u);
  EXPECT_FALSE(info->ended());
  EXPECT_GT(ResidentBytes(self).value_or(0), 100'000u);
  EXPECT_TRUE(IsDescendant(self, static_cast<uint32_t>(getppid())));
  EXPECT_FALSE(IsDescendant(static_cast<uint32_t>(getppid()), self));
  EXPECT_TRUE(ProcessMapsFile(self, ProcessExecutable(self)).value_or(false));
  EXPECT_FALSE(ProcessMapsFile(self, "/etc/passwd").value_or(true));
  EXPECT_NE(ProcNamespace(), 0U);
}

TEST(Process, WhoMapsAFileIsFoundThoughItsNameIsGone) {
  std::string path = (std::filesystem::temp_directory_path() / "mapped.XXXXXX").string();
  const int fd = mkstemp(path.data());
  ASSERT_GE(fd, 0);
  ASSERT_EQ(ftruncate(fd, 4096), 0);
  void* const mapped = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, fd, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  const auto identity = IdentityOf(path);
  ASSERT_TRUE(identity);
  close(fd);
  unlink(path.c_str());
  const uint64_t now = ReadProcess(static_cast<uint32_t>(getpid()))->start_ticks;
  EXPECT_TRUE(ProcessesMapping({*identity}, now).empty());  // this one does not count
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  const FileIdentity other{identity->device, identity->inode + 1, "other"};
  EXPECT_EQ(ProcessesMapping({other, *identity}, now),
            std::vector<uint32_t>{static_cast<uint32_t>(child)});
  EXPECT_TRUE(ProcessesMapping({other}, now).empty());
  EXPECT_TRUE(ProcessesMapping({*identity}, UINT64_MAX).empty());
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  munmap(mapped, 4096);
}

TEST(Process, AMissingOneIsNothing) {
  EXPECT_FALSE(ReadProcess(0x7fffffff));
  EXPECT_FALSE(ResidentBytes(0x7fffffff));
  EXPECT_EQ(ProcessExecutable(0x7fffffff), "");
}

}  // namespace
}  // namespace heapgauge
