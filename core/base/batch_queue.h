// Batches of things on their way from the thread that finds them to one that puts them where they
// belong: worth it where both halves take long.
//
// The thread starts when some batches went by, so that small inputs do not pay for it; until then,
// and where there is no thread to be had, the first thread puts them itself. Batches are put one
// after another, in the order they came in.
//
// A Batch has Clear(), which keeps its memory. All functions and destruction belong to one thread;
// `put` is called on the other, never on both at a time.
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>
#include <utility>

#include "core/base/threads.h"

namespace heapgauge {

template <typename Batch, typename Put>
class BatchQueue {
 public:
  // put(batch) may change the batch.
  explicit BatchQueue(Put put) : put_(std::move(put)) {}
  BatchQueue(const BatchQueue&) = delete;
  BatchQueue& operator=(const BatchQueue&) = delete;
  // Of batches that nobody waited for by Finish() some may be missing.
  ~BatchQueue() { Stop(); }

  // The one that is being filled.
  Batch& at_hand() { return batches_[next_in_]; }

  // It is full. Waits while too many are on their way.
  void HandOver() {
    if (++handed_over_ == kAlone && std::thread::hardware_concurrency() > 1) {
      thread_ = TryThread([this] { Run(); });
    }
    if (!thread_.joinable()) {
      PutAndClear(&batches_[next_in_]);
      return;
    }
    {
      std::unique_lock lock(mutex_);
      ++filled_;
      changed_.notify_all();
      changed_.wait(lock, [this] { return filled_ < kBatches; });
    }
    next_in_ = (next_in_ + 1) % kBatches;
  }

  // After this all are put, the one at hand included.
  void Finish() {
    Stop();
    PutAndClear(&batches_[next_in_]);
  }

 private:
  static constexpr size_t kBatches = 8;
  static constexpr size_t kAlone = 16;  // that are put before a thread is worth it

  void Run() {
    for (size_t next_out = 0;; next_out = (next_out + 1) % kBatches) {
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return filled_ > 0 || stop_; });
        if (filled_ == 0) return;
      }
      PutAndClear(&batches_[next_out]);
      {
        const std::lock_guard lock(mutex_);
        --filled_;
      }
      changed_.notify_all();
    }
  }

  void Stop() {
    if (!thread_.joinable()) return;
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  void PutAndClear(Batch* batch) {
    put_(batch);
    batch->Clear();
  }

  Put put_;
  std::array<Batch, kBatches> batches_;
  size_t next_in_ = 0;
  size_t handed_over_ = 0;
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t filled_ = 0;
  bool stop_ = false;
};

}  // namespace heapgauge
