#include "core/gauge/owner_process.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "core/base/testing/eventually.h"
#include "core/os/process.h"

namespace heapgauge {
namespace {

class OwnerOfAGauge : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = (std::filesystem::temp_directory_path() / "owner.XXXXXX").string();
    fd_ = mkstemp(path_.data());
    ASSERT_GE(fd_, 0);
    ASSERT_EQ(ftruncate(fd_, 4096), 0);
  }
  void TearDown() override {
    close(fd_);
    unlink(path_.c_str());
  }
  GaugeOwner Owner(uint32_t pid, uint64_t ticks) const {
    GaugeOwner owner;
    owner.path = path_;
    owner.pid = pid;
    owner.process_start_ticks = ticks;
    return owner;
  }

  std::string path_;
  int fd_ = -1;
};

uint64_t TicksOf(uint32_t pid) {
  const auto process = ReadProcess(pid);
  return process ? process->start_ticks : 0;
}

TEST_F(OwnerOfAGauge, IsTheOneThatItNamesIfThatBeganThen) {
  const auto self = static_cast<uint32_t>(getpid());
  const OwnerProcess found = FindOwnerProcess(Owner(self, TicksOf(self)), false);
  EXPECT_EQ(found.pid, self);
  EXPECT_FALSE(IsGone(found));
  const OwnerProcess reused = FindOwnerProcess(Owner(self, TicksOf(self) - 1), false);
  EXPECT_EQ(reused.pid, 0U);
  EXPECT_TRUE(IsGone(reused));
}

// The first process of a namespace; `map` has the file in its memory.
struct Inner {
  pid_t helper = -1;  // its parent
  uint32_t pid = 0;   // here; 0: not permitted
};
Inner StartInner(int map) {
  int ends[2];
  if (pipe(ends) != 0) return {};
  Inner inner;
  inner.helper = fork();
  if (inner.helper == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    uint32_t number = 0;
    if (unshare(CLONE_NEWPID) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWPID) == 0) {
      int ready[2];
      if (pipe(ready) != 0) _exit(1);
      const pid_t child = fork();
      if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (map >= 0 && mmap(nullptr, 4096, PROT_READ, MAP_SHARED, map, 0) == MAP_FAILED) _exit(1);
        if (write(ready[1], "", 1) != 1) _exit(1);
        while (true) pause();
      }
      char byte = 0;
      if (child > 0 && read(ready[0], &byte, 1) == 1) number = static_cast<uint32_t>(child);
    }
    if (write(ends[1], &number, sizeof number) != sizeof number) _exit(1);
    while (true) pause();
  }
  if (read(ends[0], &inner.pid, sizeof inner.pid) != sizeof inner.pid) inner.pid = 0;
  close(ends[0]);
  close(ends[1]);
  return inner;
}
void End(const Inner& inner) {
  if (inner.pid != 0) kill(static_cast<pid_t>(inner.pid), SIGKILL);
  kill(inner.helper, SIGKILL);
  waitpid(inner.helper, nullptr, 0);
}

TEST_F(OwnerOfAGauge, MayHaveAnotherNumberInANamespaceOfItsOwn) {
  const Inner inner = StartInner(fd_);
  const Inner other = StartInner(-1);
  if (inner.pid == 0 || other.pid == 0) {
    End(inner);
    End(other);
    GTEST_SKIP() << "pid namespaces are not permitted here";
  }
  const OwnerProcess found = FindOwnerProcess(Owner(1, TicksOf(inner.pid)), false);
  EXPECT_EQ(found.pid, inner.pid);
  EXPECT_FALSE(IsGone(found));
  // It tells nothing of its start.
  EXPECT_EQ(FindOwnerProcess(Owner(1, 0), false).pid, inner.pid);
  // It waits for a check.
  GaugeOwner ended = Owner(1, TicksOf(inner.pid));
  ended.ended_ns = 5;
  EXPECT_EQ(FindOwnerProcess(ended, true).pid, inner.pid);
  // A reader that is older than it, and one that the file tells nothing of the namespace.
  GaugeOwner elsewhere = Owner(1, TicksOf(inner.pid));
  EXPECT_EQ(FindRunningOwner(elsewhere).process.pid, inner.pid);
  EXPECT_EQ(RunningAs(elsewhere), inner.pid);
  const uint64_t its_namespace = PidNamespaceOf(inner.pid);
  elsewhere.pid_namespace = its_namespace;
  EXPECT_EQ(RunningAs(elsewhere), inner.pid);
  elsewhere.pid_namespace = ProcNamespace();
  EXPECT_EQ(RunningAs(elsewhere), 0U) << "in this namespace the number is of somebody else";
  const auto threads = ThreadsByOwnNumber(inner.pid);
  ASSERT_EQ(threads.count(1), 1U);
  EXPECT_EQ(threads.at(1), inner.pid);
  End(inner);
  // Until its parents are told.
  EXPECT_TRUE(Eventually("the process is gone", [&] { return IsGone(found); }));
  EXPECT_TRUE(IsGone(found));
  elsewhere.pid_namespace = its_namespace;
  const OwnerSearch gone = FindRunningOwner(elsewhere);
  EXPECT_EQ(gone.process.pid, 0U);
  EXPECT_EQ(gone.unclear, !ProcShowsAll());
  End(other);
}

}  // namespace
}  // namespace heapgauge
