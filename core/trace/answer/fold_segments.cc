#include "core/trace/answer/fold_segments.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "core/base/threads.h"

namespace heapgauge::trace {
namespace {

constexpr size_t kMostWorkers = 8;
constexpr uint64_t kMostBytes = uint64_t{512} << 20;

// What the threads of one fold share.
class Fold {
 public:
  Fold(const TraceFile& trace, const FoldOptions& options,
       const std::function<uint32_t(size_t)>& parts_of,
       const std::function<void(size_t, const Segment&, size_t)>& visit)
      : trace_(trace),
        options_(options),
        parts_of_(parts_of),
        visit_(visit),
        end_(std::min(options.end, trace.segments().size())) {
    for (size_t i = options.first; i < end_; ++i) total_ += trace.segments()[i].events;
  }

  Status Run() {
    const size_t count = end_ > options_.first ? end_ - options_.first : 0;
    const size_t workers = std::max<size_t>(1, std::min(options_.workers, count));
    std::vector<std::thread> threads;
    std::vector<size_t> left{0};
    for (size_t worker = 1; worker < workers; ++worker) {
      std::thread thread = TryThread([this, worker, workers] { Work(worker, workers); });
      if (thread.joinable()) {
        threads.push_back(std::move(thread));
      } else {
        left.push_back(worker);
      }
    }
    for (const size_t worker : left) Work(worker, workers);
    for (std::thread& thread : threads) thread.join();
    if (error_) return tl::unexpected<Error>(*std::move(error_));
    return {};
  }

 private:
  void Work(size_t worker, size_t workers) {
    Segment segment;
    for (size_t i = options_.first + worker; i < end_ && !stop_; i += workers) {
      if (const uint32_t parts = parts_of_(i); parts != 0) {
        if (const Status read = trace_.ReadSegment(i, parts, &segment); !read) {
          const std::lock_guard lock(mutex_);
          if (!error_) error_ = read.error();
          stop_ = true;
          return;
        }
        visit_(worker, segment, i);
      }
      const std::lock_guard lock(mutex_);
      done_ += trace_.segments()[i].events;
      if (options_.progress != nullptr) {
        options_.progress->Report(options_.what, done_, total_, "events");
      }
    }
  }

  const TraceFile& trace_;
  const FoldOptions& options_;
  const std::function<uint32_t(size_t)>& parts_of_;
  const std::function<void(size_t, const Segment&, size_t)>& visit_;
  const size_t end_;
  std::atomic<bool> stop_ = false;
  std::mutex mutex_;
  std::optional<Error> error_;
  uint64_t done_ = 0;
  uint64_t total_ = 0;
};

}  // namespace

size_t FoldWorkers(uint64_t bytes_each) {
  const size_t cores = std::clamp<size_t>(std::thread::hardware_concurrency(), 1, kMostWorkers);
  const uint64_t fit = bytes_each == 0 ? cores : kMostBytes / bytes_each;
  return static_cast<size_t>(std::clamp<uint64_t>(fit, 1, cores));
}

Status FoldSegments(const TraceFile& trace, const FoldOptions& options,
                    const std::function<uint32_t(size_t)>& parts_of,
                    const std::function<void(size_t, const Segment&, size_t)>& visit) {
  return Fold(trace, options, parts_of, visit).Run();
}

namespace {

class FoldInTurns {
 public:
  FoldInTurns(const TraceFile& trace, const OrderedFoldOptions& options, const OrderedFold& fold)
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
  FoldInTurns work(trace, options, fold);
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
