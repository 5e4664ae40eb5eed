#include "cli/background_reads.h"

#include "core/base/blocked_signals.h"
#include "core/base/try_thread.h"

namespace heapgauge::cli {

BackgroundReads::~BackgroundReads() {
  if (thread_.joinable()) thread_.join();
}

void BackgroundReads::Start() {
  const BlockedSignals blocked;
  if (!reads_.empty()) thread_ = TryThread([this] { Run(); });
  if (!thread_.joinable()) Run();
}

Status BackgroundReads::WaitFor(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  finished_.wait_for(lock, time, [this] { return is_finished_; });
  return status_;
}

Status BackgroundReads::Wait() {
  std::unique_lock lock(mutex_);
  finished_.wait(lock, [this] { return is_finished_; });
  return status_;
}

// What comes after a failure is read all the same: somebody may be waiting for it.
void BackgroundReads::Run() {
  for (const auto& read : reads_) {
    const Status done = read();
    const std::lock_guard lock(mutex_);
    if (!done && status_) status_ = done;
  }
  const std::lock_guard lock(mutex_);
  is_finished_ = true;
  finished_.notify_all();
}

}  // namespace heapgauge::cli
