#include "agent/sys/os.h"
#include "agent/sys/os_memory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
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

// What the kernel puts somewhere by itself.
class Mapping {
 public:
  explicit Mapping(void* wished = nullptr, int flags = 0)
      : at_(mmap(wished, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0)) {}
  ~Mapping() { munmap(at_, 4096); }
  void* at() const { return at_; }

 private:
  void* at_;
};

TEST(MapPrivate, LiesFarFromWhereTheKernelPutsMappings) {
  constexpr int64_t kFar = int64_t{1} << 38;
  const Mapping usual;
  for (const size_t bytes : {size_t{4096}, size_t{100'000}, size_t{8} << 20}) {
    auto* const memory = static_cast<char*>(os::MapPrivate(bytes));
    ASSERT_NE(memory, nullptr);
    EXPECT_GT(std::abs(memory - static_cast<char*>(usual.at())), kFar);
    EXPECT_EQ(memory[0] + memory[bytes - 1], 0);
    os::Unmap(memory, bytes);
  }
}

TEST(MapShared, GoesElsewhereIfThereIsNoSuchPlace) {
  const int file = memfd_create("heapgauge_place", MFD_CLOEXEC);
  ASSERT_GE(file, 0);
  ASSERT_EQ(ftruncate(file, 4096), 0);
  void* const memory = os::MapShared(file, 0, 4096, reinterpret_cast<void*>(uintptr_t{1} << 62));
  close(file);
  ASSERT_NE(memory, nullptr);
  os::Unmap(memory, 4096);
}

TEST(MapPrivate, GoesElsewhereIfSomebodyIsThere) {
  auto* const first = static_cast<char*>(os::MapPrivate(4096));
  ASSERT_NE(first, nullptr);
  const Mapping other(first + 4096, MAP_FIXED_NOREPLACE);
  ASSERT_EQ(other.at(), first + 4096);
  auto* const second = static_cast<char*>(os::MapPrivate(4096));
  ASSERT_NE(second, nullptr);
  EXPECT_NE(second, other.at());
  *second = 1;
  os::Unmap(first, 4096);
  os::Unmap(second, 4096);
}

}  // namespace
}  // namespace heapgauge::agent
