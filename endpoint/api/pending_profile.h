// A profile that somebody reads while others may ask for it already.
//
// Threads: one gives it, once; any number wait for it.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "core/base/result.h"
#include "core/model/profile.h"

namespace heapgauge::endpoint::api {

class PendingProfile {
 public:
  using Pointer = std::shared_ptr<const Profile>;

  // The profile, or why there is none.
  void Give(Result<Pointer> profile) {
    {
      const std::lock_guard lock(mutex_);
      profile_ = std::move(profile);
    }
    given_.notify_all();
  }

  Result<Pointer> Wait() const {
    std::unique_lock lock(mutex_);
    given_.wait(lock, [this] { return profile_.has_value(); });
    return *profile_;
  }

  // Null if it is not there yet, or never will be.
  Pointer IfThere() const {
    const std::lock_guard lock(mutex_);
    return profile_ && *profile_ ? **profile_ : nullptr;
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable given_;
  std::optional<Result<Pointer>> profile_;
};

}  // namespace heapgauge::endpoint::api
