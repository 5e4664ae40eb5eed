// A child of a test that runs a function of it; killed at the end.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <string>

#include "core/base/file.h"
#include "core/base/testing/eventually.h"
#include "core/os/process.h"

namespace heapgauge::leaks {

// Whether there is something to read, or the end; a failure of the test if that takes too long.
inline bool IsReadable(int fd) {
  pollfd wait{fd, POLLIN, 0};
  const std::chrono::milliseconds longest = kLongestTestWait;
  const bool is_readable = poll(&wait, 1, static_cast<int>(longest.count())) == 1;
  EXPECT_TRUE(is_readable) << "waited in vain for words of another process";
  return is_readable;
}

// `fn` gets a function that it calls when it is ready to be looked at.
class Child {
 public:
  template <typename Fn>
  explicit Child(Fn fn) {
    int ready[2];
    EXPECT_EQ(pipe(ready), 0);
    pid_ = fork();
    if (pid_ == 0) {
      fn([&] { EXPECT_EQ(write(ready[1], "x", 1), 1); });
      _exit(0);
    }
    close(ready[1]);
    char byte = 0;
    if (IsReadable(ready[0])) {
      EXPECT_EQ(read(ready[0], &byte, 1), 1);
    }
    close(ready[0]);
  }
  ~Child() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, __WALL);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  pid_t pid() const { return pid_; }
  uint32_t id() const { return static_cast<uint32_t>(pid_); }
  char state() const { return ReadProcess(id()).value_or(ProcessInfo{}).state; }
  // When it is where it waits again.
  char settled_state() const {
    char now = '?';
    EXPECT_TRUE(Eventually("the child waits again", [&] {
      now = state();
      return now != 'R' && now != 't';
    }));
    return now;
  }
  ::testing::AssertionResult EventuallyIs(char wanted) const {
    return Eventually(std::string("the child is in state ") + wanted,
                      [&] { return state() == wanted; });
  }

 private:
  pid_t pid_ = -1;
};

// Waits for signals.
class PausingChild : public Child {
 public:
  PausingChild()
      : Child([](auto ready) {
          ready();
          while (true) pause();
        }) {}
};

[[noreturn]] inline void Sleep() {
  while (true) {
    const timespec nap{1000, 0};
    nanosleep(&nap, nullptr);
  }
}

// Waits for a time, which a kernel that interrupts it must remember.
class SleepingChild : public Child {
 public:
  SleepingChild()
      : Child([](auto ready) {
          ready();
          Sleep();
        }) {}
};

inline bool IsTraced(pid_t process) {
  const auto status = ReadWholeFile("/proc/" + std::to_string(process) + "/status", 16384);
  return !status || status->find("TracerPid:\t0\n") == std::string::npos;
}

}  // namespace heapgauge::leaks
