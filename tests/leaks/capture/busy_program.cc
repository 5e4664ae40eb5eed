// A program that is in the middle of everything, and notices whatever disturbs it: threads that
// wait in all kinds of system calls, count on floating-point registers, start and end threads,
// start and wait for children, get signals. It says "ready", and at the end of its input
// "undisturbed", with how much was done; or what was wrong. System calls that ended by EINTR are
// counted apart, and so are children that were left behind.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

namespace {

std::atomic<bool> ending{false};
std::atomic<uint64_t> wrong{0};
std::atomic<uint64_t> interrupted{0};
std::atomic<uint64_t> rounds{0};
std::atomic<uint64_t> children{0};
std::atomic<uint64_t> signals_sent{0};
std::atomic<uint64_t> signals_seen{0};

// Always equal when nobody is between the two stores; far apart.
struct Pair {
  volatile uint64_t first;
  char between[1 << 20];
  volatile uint64_t second;
};
Pair pair;

void Wrong(const char* what, long value, int error) {
  if (value < 0 && error == EINTR) {
    interrupted.fetch_add(1);
    return;
  }
  std::fprintf(stderr, "%s: %ld, %s\n", what, value, std::strerror(error));
  wrong.fetch_add(1);
}

void BlockSignals() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
}

uint64_t Now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

void Sleeps() {
  BlockSignals();
  while (!ending) {
    const timespec nap{0, 30'000'000};
    const uint64_t before = Now();
    if (nanosleep(&nap, nullptr) != 0) {
      Wrong("nanosleep", -1, errno);
    } else if (Now() - before < 30'000'000) {
      Wrong("nanosleep was short", 0, 0);
    }
    if (poll(nullptr, 0, 20) != 0) Wrong("poll", -1, errno);
    rounds.fetch_add(1);
  }
}

void WaitsForEpoll(int timeout_ms) {
  BlockSignals();
  const int fd = epoll_create1(0);
  int ends[2];
  if (pipe(ends) != 0) return Wrong("pipe", -1, errno);
  epoll_event event{};
  event.events = EPOLLIN;
  epoll_ctl(fd, EPOLL_CTL_ADD, ends[0], &event);
  std::thread wakes([&] {
    BlockSignals();
    while (!ending) {
      usleep(70'000);
      if (write(ends[1], "x", 1) != 1) Wrong("write", -1, errno);
    }
    close(ends[1]);
  });
  while (true) {
    const int got = epoll_wait(fd, &event, 1, timeout_ms);
    if (got < 0) Wrong("epoll_wait", got, errno);
    if (got == 0 && timeout_ms < 0) Wrong("epoll_wait timed out", got, 0);
    if (got <= 0) continue;
    char byte = 0;
    const ssize_t bytes = read(ends[0], &byte, 1);
    if (bytes < 0) Wrong("read", bytes, errno);
    if (bytes == 0) break;
    rounds.fetch_add(1);
  }
  wakes.join();
}

void PassesBytes() {
  BlockSignals();
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return Wrong("socketpair", -1, errno);
  // With a timeout, reading ends by EINTR where it would be started again otherwise.
  const timeval limit{10, 0};
  setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  std::thread other([&] {
    BlockSignals();
    char byte = 0;
    ssize_t got = 0;
    while ((got = read(ends[1], &byte, 1)) == 1 || (got < 0 && errno == EINTR)) {
      if (got < 0) continue;
      usleep(3'000);
      if (write(ends[1], &byte, 1) != 1) Wrong("write", -1, errno);
    }
    close(ends[1]);
  });
  for (char i = 0; !ending; ++i) {
    char back = 0;
    if (write(ends[0], &i, 1) != 1) Wrong("write", -1, errno);
    ssize_t got = 0;
    while ((got = read(ends[0], &back, 1)) < 0 && errno == EINTR) interrupted.fetch_add(1);
    if (got != 1 || back != i) Wrong("read with a timeout", got, errno);
    rounds.fetch_add(1);
  }
  shutdown(ends[0], SHUT_WR);
  other.join();
  close(ends[0]);
}

// A client that waits for the other side to close: a copy that kept the file open would hold it up.
void Closes() {
  BlockSignals();
  while (!ending) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return Wrong("socketpair", -1, errno);
    std::thread other([end = ends[1]] {
      BlockSignals();
      usleep(1'000);
      close(end);
    });
    char byte = 0;
    pollfd wait{ends[0], POLLIN, 0};
    int ready = 0;
    while ((ready = poll(&wait, 1, 20'000)) < 0 && errno == EINTR) interrupted.fetch_add(1);
    if (ready != 1) Wrong("a closed connection stays open", ready, errno);
    if (read(ends[0], &byte, 1) != 0) Wrong("read at the end", 0, errno);
    other.join();
    close(ends[0]);
    rounds.fetch_add(1);
  }
}

void Computes() {
  BlockSignals();
  while (!ending) {
    double sums[16];
    for (int i = 0; i < 16; ++i) sums[i] = i;
    for (int n = 0; n < 20'000; ++n) {
      for (int i = 0; i < 16; ++i) sums[i] = sums[i] * 1.0000001 + 0.25;
    }
    static const double expected = [] {
      double sum = 3;
      for (int n = 0; n < 20'000; ++n) sum = sum * 1.0000001 + 0.25;
      return sum;
    }();
    if (sums[3] != expected) Wrong("floating point", static_cast<long>(sums[3]), 0);
    rounds.fetch_add(1);
  }
}

void WritesPair() {
  BlockSignals();
  for (uint64_t i = 1; !ending; ++i) {
    pair.first = i;
    pair.second = i;
  }
}

void StartsThreads() {
  BlockSignals();
  while (!ending) {
    std::mutex mutex;
    std::condition_variable changed;
    int done = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&] {
        const std::lock_guard lock(mutex);
        ++done;
        changed.notify_all();
      });
    }
    std::unique_lock lock(mutex);
    if (!changed.wait_for(lock, std::chrono::seconds(60), [&] { return done == 3; })) {
      Wrong("condition", done, 0);
    }
    lock.unlock();
    for (std::thread& thread : threads) thread.join();
    rounds.fetch_add(1);
  }
}

// Its own children, and no others, are seen by wait().
void WaitsForChildren() {
  BlockSignals();
  while (!ending) {
    const pid_t child = fork();
    if (child == 0) _exit(7);
    if (child < 0) {
      Wrong("fork", child, errno);
      continue;
    }
    int status = 0;
    const pid_t ended = waitpid(-1, &status, 0);
    if (ended != child || !WIFEXITED(status) || WEXITSTATUS(status) != 7) {
      Wrong("wait for any child", ended, errno);
    }
    if (waitpid(-1, &status, WNOHANG) != -1 || errno != ECHILD) Wrong("another child", 0, errno);
    const pid_t fast = vfork();
    if (fast == 0) _exit(9);
    if (waitpid(-1, &status, 0) != fast || WEXITSTATUS(status) != 9) Wrong("vfork", fast, errno);
    children.fetch_add(2);
    usleep(500);
  }
}

void CountSignal(int) { signals_seen.fetch_add(1); }

// Every signal arrives, and each ends a sigsuspend.
void TakesSignals() {
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
  const pthread_t self = pthread_self();
  std::thread sends([&] {
    BlockSignals();
    while (!ending) {
      const uint64_t before = signals_seen.load();
      signals_sent.fetch_add(1);
      pthread_kill(self, SIGUSR1);
      for (int i = 0; i < 60'000 && signals_seen.load() == before; ++i) usleep(1'000);
      if (signals_seen.load() != before + 1) Wrong("a signal is lost", 0, 0);
      usleep(500);
    }
    pthread_kill(self, SIGUSR2);
  });
  sigset_t open;
  sigfillset(&open);
  sigdelset(&open, SIGUSR1);
  sigdelset(&open, SIGUSR2);
  while (!ending) {
    if (sigsuspend(&open) != -1 || errno != EINTR) Wrong("sigsuspend", 0, errno);
  }
  sends.join();
}

}  // namespace

int main() {
  struct sigaction action {};
  action.sa_handler = CountSignal;
  sigaction(SIGUSR1, &action, nullptr);
  action.sa_handler = [](int) {};
  sigaction(SIGUSR2, &action, nullptr);
  std::vector<std::thread> threads;
  threads.emplace_back(Sleeps);
  threads.emplace_back(WaitsForEpoll, -1);
  threads.emplace_back(WaitsForEpoll, 50);
  threads.emplace_back(PassesBytes);
  threads.emplace_back(Closes);
  threads.emplace_back(Computes);
  threads.emplace_back(WritesPair);
  threads.emplace_back(StartsThreads);
  threads.emplace_back(WaitsForChildren);
  threads.emplace_back(TakesSignals);
  std::printf("ready %p %p\n", const_cast<uint64_t*>(&pair.first),
              const_cast<uint64_t*>(&pair.second));
  std::fflush(stdout);
  char byte = 0;
  sigset_t usr;
  sigemptyset(&usr);
  sigaddset(&usr, SIGUSR1);
  sigaddset(&usr, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &usr, nullptr);
  ssize_t got = 0;
  while ((got = read(0, &byte, 1)) > 0) {
  }
  if (got < 0) Wrong("read of standard input", got, errno);
  ending = true;
  for (std::thread& thread : threads) thread.join();
  // With __WALL, children without a signal are seen as well.
  int left = 0;
  while (waitpid(-1, nullptr, __WALL) > 0) ++left;
  std::printf("%s: %lu wrong, %lu interrupted, %d left behind, %lu rounds, %lu children\n",
              wrong == 0 ? "undisturbed" : "disturbed", wrong.load(), interrupted.load(), left,
              rounds.load(), children.load());
  return wrong == 0 ? 0 : 1;
}
