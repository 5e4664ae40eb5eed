#include "agent/sys/os.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

namespace heapgauge::agent {
namespace {

// Leaves no descriptor to open for as long as it lives.
class NoDescriptors {
 public:
  NoDescriptors() {
    getrlimit(RLIMIT_NOFILE, &before_);
    rlimit few = before_;
    few.rlim_cur = 64;
    setrlimit(RLIMIT_NOFILE, &few);
    for (int fd; (fd = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0;) opened_.push_back(fd);
  }
  ~NoDescriptors() {
    for (const int fd : opened_) close(fd);
    setrlimit(RLIMIT_NOFILE, &before_);
  }

 private:
  rlimit before_{};
  std::vector<int> opened_;
};

TEST(RunWithSpareDescriptor, OpensAndMapsAFileWhereTheProgramCannot) {
  const std::string path = ::testing::TempDir() + "heapgauge_spare_" + std::to_string(getpid());
  const int made = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_GE(made, 0);
  ASSERT_EQ(write(made, "found it", 8), 8);
  close(made);
  struct Work {
    const char* path;
    int fd;
    const char* mapped;
  } work{path.c_str(), -1, nullptr};
  const NoDescriptors none;
  ASSERT_EQ(open(path.c_str(), O_RDONLY | O_CLOEXEC), -1);
  ASSERT_EQ(errno, EMFILE);
  ASSERT_TRUE(os::RunWithSpareDescriptor(
      [](void* given) {
        auto* todo = static_cast<Work*>(given);
        todo->fd = os::OpenFile(todo->path);
        if (todo->fd >= 0) {
          todo->mapped = static_cast<const char*>(os::MapShared(todo->fd, 0, 4096, nullptr));
        }
      },
      &work));
  EXPECT_EQ(work.fd, 0);
  ASSERT_NE(work.mapped, nullptr);
  EXPECT_EQ(std::string(work.mapped, 8), "found it");
  // Nothing of the program has changed.
  EXPECT_GE(fcntl(0, F_GETFD), 0);
  EXPECT_EQ(open(path.c_str(), O_RDONLY | O_CLOEXEC), -1);
  EXPECT_EQ(waitpid(-1, nullptr, __WALL | WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
  munmap(const_cast<char*>(work.mapped), 4096);
  unlink(path.c_str());
}

}  // namespace
}  // namespace heapgauge::agent
