// A profile that is read once, of any format, as a source. It may still be under way: questions
// wait for it.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "core/base/result.h"
#include "core/model/profile.h"
#include "endpoint/api/source.h"

namespace heapgauge::endpoint::api {

// A profile that somebody reads while others may ask for it already.
//
// Threads: one gives it, once; any number wait for it.

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

class ProfileSource final : public Source {
 public:
  // With names. Says how sure its figures are where the file tells enough for it.
  ProfileSource(Profile profile, std::string name);
  // The same of one that somebody reads meanwhile, made by Finished().
  ProfileSource(std::shared_ptr<const PendingProfile> pending, std::string name);

  // A profile that was just read, as sources have it.
  static PendingProfile::Pointer Finished(Profile profile);

  Facts facts() override;
  Result<std::shared_ptr<const Profile>> Ask(const Filter& filter) override;
  Result<Timeline> Over(const Stretch& stretch) override;

 private:
  const std::shared_ptr<const PendingProfile> profile_;
  const std::string name_;
};

}  // namespace heapgauge::endpoint::api
