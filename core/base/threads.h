// Threads: started where there is one to be had, with work in parts, with values made once, without
// the program's signals.
#pragma once

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace heapgauge {

// Starts a thread, or does not: where the number of threads is limited (RLIMIT_NPROC, pids.max) the
// caller does the work itself.
//
// Not joinable if there is no thread to be had.
template <typename... Arguments>
std::thread TryThread(Arguments&&... arguments) {
  try {
    return std::thread(std::forward<Arguments>(arguments)...);
  } catch (const std::system_error&) {
    return {};
  }
}

// Work that falls into parts which do not depend on each other, on as many threads as there are
// processors.
//
// How many parts there are must not depend on the machine where sums of them are rounded: then the
// figures are the same everywhere.

// Parts of a list in which each has about `each` elements: one if it is short, kMostParts at the
// most.
inline constexpr size_t kMostParts = 8;
inline size_t PartsOf(size_t count, size_t each) {
  return std::clamp<size_t>(count / each, 1, kMostParts);
}
// Where part `part` of `parts` begins in a list of `count`; the last one ends where part `parts`
// would begin.
inline size_t BeginOfPart(size_t count, size_t part, size_t parts) { return count * part / parts; }

// Calls work(part) once for each part from 0 on, in any order, and returns when all are done.
// Without threads the caller does it all.
template <typename Work>
void InParallel(size_t parts, const Work& work) {
  std::atomic<size_t> next{0};
  const auto take = [&] {
    for (size_t part = next++; part < parts; part = next++) work(part);
  };
  std::vector<std::thread> others;
  const size_t threads = std::min<size_t>(parts, std::thread::hardware_concurrency());
  others.reserve(threads);
  for (size_t i = 1; i < threads; ++i) others.push_back(TryThread(take));
  take();
  for (std::thread& other : others) {
    if (other.joinable()) other.join();
  }
}

// A value that is made when it is first asked for, once, and stays.
//
// Threads: any number may ask; one makes it, the others wait. If making it throws, the next one
// tries again.
template <typename T>
class Lazy {
 public:
  // `make` gives a T and must not ask for this value itself.
  template <typename Make>
  const T& Get(const Make& make) const {
    const std::lock_guard lock(mutex_);
    if (!value_) value_.emplace(make());
    return *value_;
  }

 private:
  mutable std::mutex mutex_;
  mutable std::optional<T> value_;
};

// Blocks all signals of this thread for a scope, so that a thread which is started in it has them
// blocked for good: the program's handlers run in the program's own threads.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace heapgauge
