#include "endpoint/http/workers.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "core/base/file.h"
#include "core/base/threads.h"

namespace heapgauge::endpoint {

Status Workers::Start(unsigned count, const std::function<void()>& started) {
  const BlockedSignals blocked;
  Status status;
  try {
    for (unsigned i = 0; i < count; ++i) {
      threads_.emplace_back([this, started] {
        if (started) started();
        Work();
      });
    }
  } catch (const std::system_error& error) {
    if (threads_.empty()) {
      status = tl::unexpected<Error>(SystemError("cannot start a thread", error.code().value()));
    }
  }
  return status;
}

void Workers::End() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ending_ = true;
    jobs_.clear();
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void Workers::Add(uint64_t owner, std::function<void()> run) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    jobs_.push_back({owner, std::move(run)});
  }
  wake_.notify_one();
}

void Workers::Drop(uint64_t owner) {
  std::function<void()> dropped;  // what it holds may take a while to free: without the lock
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto job = std::find_if(jobs_.begin(), jobs_.end(),
                                [owner](const Job& other) { return other.owner == owner; });
  if (job == jobs_.end()) return;
  dropped = std::move(job->run);
  jobs_.erase(job);
}

void Workers::Work() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return ending_ || !jobs_.empty(); });
    if (ending_) return;
    std::function<void()> run = std::move(jobs_.front().run);
    jobs_.pop_front();
    lock.unlock();
    run();
    run = nullptr;
    lock.lock();
  }
}

}  // namespace heapgauge::endpoint
