// Files that are read one after another while something else goes on: the page that will show
// them is served already.
//
// Owned by one thread; the reads run on another, after Start().
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/result.h"

namespace heapgauge::cli {

class BackgroundReads {
 public:
  BackgroundReads() = default;
  BackgroundReads(const BackgroundReads&) = delete;
  BackgroundReads& operator=(const BackgroundReads&) = delete;
  // Waits for all of them.
  ~BackgroundReads();

  // Before Start().
  void Add(std::function<Status()> read) { reads_.push_back(std::move(read)); }

  // Where no thread is to be had they are read here.
  void Start();
  // Returns when all are read or the time is over: the first failure, if any.
  Status WaitFor(std::chrono::milliseconds time);
  // The same without an end.
  Status Wait();

 private:
  void Run();

  std::vector<std::function<Status()>> reads_;
  std::mutex mutex_;
  std::condition_variable finished_;
  bool is_finished_ = false;
  Status status_;
  std::thread thread_;
};

}  // namespace heapgauge::cli
