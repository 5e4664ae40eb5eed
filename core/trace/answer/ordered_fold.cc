#include "core/trace/answer/ordered_fold.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "core/base/try_thread.h"
#include "core/trace/answer/fold_segments.h"

namespace heapgauge::trace {
namespace {

class Fold {
 public:
  Fold(const TraceFile& trace, const OrderedFoldOptions& options, const OrderedFold& fold)
      : trace_(trace), options_(options), fold_(fold), turn_(options.first), next_(options.first) {
    for (size_t i = options.first; i < trace.segments().size(); ++i) {
      total_ += trace.segments()[i].events;
    }
  }

  void Work(size_t worker) {
    Segment segment;
    const size_t end = trace_.segments().size();
    for (size_t i = next_++; i < end; i = next_++) {
      Status read;
      const bool wanted = !options_.wanted || options_.wanted(i);
      if (wanted && !failed_) {
        const uint32_t parts = options_.parts_of ? options_.parts_of(i) : options_.parts;
        read = trace_.ReadSegment(i, parts, &segment);
        if (read && fold_.each) fold_.each(worker, i, segment);
      }
      // A segment is taken by one thread and the ones before it by threads that are at work, so the
      // turn always comes.
      std::unique_lock<std::mutex> lock(mutex_);
      turned_.wait(lock, [&] { return turn_ == i; });
      if (!failed_ && !read) {
        status_ = std::move(read);
        failed_ = true;
      }
      if (!failed_ && wanted && fold_.in_order) fold_.in_order(i, segment);
      ++turn_;
      done_ += trace_.segments()[i].events;
      if (options_.progress != nullptr) {
        options_.progress->Report("reading the trace", done_, total_, "events");
      }
      lock.unlock();
      turned_.notify_all();
    }
  }

  Status TakeStatus() { return std::move(status_); }

 private:
  const TraceFile& trace_;
  const OrderedFoldOptions& options_;
  const OrderedFold& fold_;
  std::mutex mutex_;
  std::condition_variable turned_;
  size_t turn_;
  std::atomic<size_t> next_;
  std::atomic<bool> failed_{false};
  Status status_;
  uint64_t total_ = 0;
  uint64_t done_ = 0;
};

}  // namespace

size_t WorkersFor(const TraceFile& trace, uint64_t bytes_each) {
  return std::max<size_t>(1, std::min(FoldWorkers(bytes_each), trace.segments().size()));
}

Status FoldOrdered(const TraceFile& trace, const OrderedFoldOptions& options,
                   const OrderedFold& fold) {
  Fold work(trace, options, fold);
  std::vector<std::thread> threads;
  for (size_t i = 1; i < options.workers; ++i) {
    threads.push_back(TryThread([&work, i] { work.Work(i); }));
  }
  work.Work(0);
  for (std::thread& thread : threads) {
    if (thread.joinable()) thread.join();
  }
  return work.TakeStatus();
}

}  // namespace heapgauge::trace
