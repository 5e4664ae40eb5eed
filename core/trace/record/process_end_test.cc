#include "core/trace/record/process_end.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/os/process.h"

namespace heapgauge::trace {
namespace {

// Ends, by the signal if there is one, when it is told.
class Child {
 public:
  explicit Child(int signal) {
    EXPECT_EQ(pipe(pipe_), 0);
    pid_ = fork();
    if (pid_ != 0) return;
    char byte;
    (void)!read(pipe_[0], &byte, 1);
    if (signal != 0) kill(getpid(), signal);
    syscall(SYS_exit_group, 7);
  }
  ~Child() {
    for (const int fd : pipe_) close(fd);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  OwnerProcess process() const {
    const auto pid = static_cast<uint32_t>(pid_);
    return {pid, ReadProcess(pid)->start_ticks};
  }
  // It is not waited for yet.
  void End() {
    ASSERT_EQ(write(pipe_[1], "x", 1), 1);
    siginfo_t info;
    ASSERT_EQ(waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT), 0);
  }
  int Wait() {
    int status = 0;
    EXPECT_EQ(waitpid(pid_, &status, 0), pid_);
    return status;
  }

 private:
  int pipe_[2];
  pid_t pid_;
};

TEST(ProcessEnd, IsKnownUntilSomebodyWaitsAndAfterIfTheKernelTells) {
  for (const int signal : {0, SIGKILL}) {
    Child child(signal);
    const ProcessEnd end(child.process());
    EXPECT_FALSE(end.wait_status()) << "it runs";
    child.End();
    const auto unwaited = end.wait_status();
    const int status = child.Wait();
    ASSERT_TRUE(unwaited);
    EXPECT_EQ(*unwaited, status);
    EXPECT_EQ(signal == 0, WIFEXITED(status));
    const auto waited = end.wait_status();
    if (waited) {
      EXPECT_EQ(*waited, status);
    }
  }
}

TEST(ProcessEnd, OfOneThatWasGoneIsNotKnown) {
  Child child(0);
  const OwnerProcess process = child.process();
  child.End();
  child.Wait();
  EXPECT_FALSE(ProcessEnd(process).wait_status());
  EXPECT_FALSE(ProcessEnd(OwnerProcess()).wait_status());
  EXPECT_FALSE(ProcessEnd().wait_status());
}

}  // namespace
}  // namespace heapgauge::trace
