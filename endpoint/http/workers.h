// Threads that work through a queue, so that an answer which takes long to make holds up nobody
// else. All signals are blocked in them.
//
// A job has an owner, and an owner one job at a time: the queue is no longer than there are owners.
// Jobs do not throw.
//
// Threads: Add() and Drop() by any; the rest by who made this.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "core/base/result.h"

namespace heapgauge::endpoint {

class Workers {
 public:
  Workers() = default;
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  ~Workers() { End(); }

  // `started` is called first in each thread, if it is there. Fails if no thread can be made.
  Status Start(unsigned count, const std::function<void()>& started);
  bool empty() const { return threads_.empty(); }

  void Add(uint64_t owner, std::function<void()> run);
  // Forgets the job of an owner that has gone, unless it has begun.
  void Drop(uint64_t owner);

  // Waits for the jobs that have begun; others are dropped. Then it is empty.
  void End();

 private:
  struct Job {
    uint64_t owner = 0;
    std::function<void()> run;
  };

  void Work();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Job> jobs_;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace heapgauge::endpoint
