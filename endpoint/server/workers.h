// Threads that work through a queue, so that an answer which takes long to make holds up nobody
// else. All signals are blocked in them.
//
// Threads: Add() by any; the rest by the owner.
#ifndef HEAPGAUGE_ENDPOINT_SERVER_WORKERS_H_
#define HEAPGAUGE_ENDPOINT_SERVER_WORKERS_H_

#include <condition_variable>
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

  void Add(std::function<void()> job);

  // Waits for the jobs that have begun; others are dropped. Then it is empty.
  void End();

 private:
  void Work();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> jobs_;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace heapgauge::endpoint

#endif  // HEAPGAUGE_ENDPOINT_SERVER_WORKERS_H_
