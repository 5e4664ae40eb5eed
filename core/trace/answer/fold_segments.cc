#include "core/trace/answer/fold_segments.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "core/base/try_thread.h"

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

}  // namespace heapgauge::trace
