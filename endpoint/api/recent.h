// The last few of something by name: answers that are made once and asked for again. Recent holds
// them and is not synchronised; MadeOnce also makes them, for any number of threads.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "core/base/result.h"

namespace heapgauge::endpoint::api {

template <typename Value>
class Recent {
 public:
  explicit Recent(size_t most) : most_(most) {}

  // Null if there is none; else it counts as the newest.
  Value* Find(const std::string& name) {
    for (auto at = list_.begin(); at != list_.end(); ++at) {
      if (at->first != name) continue;
      list_.splice(list_.begin(), list_, at);
      return &list_.front().second;
    }
    return nullptr;
  }

  void Forget(const std::string& name) {
    list_.remove_if([&](const auto& entry) { return entry.first == name; });
  }

  Value& Keep(const std::string& name, Value value) {
    Forget(name);
    list_.emplace_front(name, std::move(value));
    if (list_.size() > most_) list_.pop_back();
    return list_.front().second;
  }

 private:
  const size_t most_;
  std::list<std::pair<std::string, Value>> list_;  // the newest first
};

// The last few of something by name, each made once, when it is first asked for.
//
// Threads: any number. Who asks for what another is making waits for it; who asks for anything else
// does not.
template <typename T>
class MadeOnce {
 public:
  using Pointer = std::shared_ptr<const T>;

  // How many are kept; those that are in use live on without.
  explicit MadeOnce(size_t most) : recent_(most) {}

  // make() gives a Result<Pointer>, and may ask for other names here. What fails is not kept.
  template <typename Make>
  Result<Pointer> Get(const std::string& name, const Make& make) {
    const std::shared_ptr<Entry> entry = EntryOf(name);
    const std::lock_guard lock(entry->mutex);
    if (entry->made == nullptr) {
      auto made = make();
      if (!made) {
        Forget(name, entry);
        return made;
      }
      entry->made = *std::move(made);
    }
    return entry->made;
  }

 private:
  struct Entry {
    std::mutex mutex;
    Pointer made;  // null: not yet
  };

  std::shared_ptr<Entry> EntryOf(const std::string& name) {
    const std::lock_guard lock(mutex_);
    if (auto* known = recent_.Find(name)) return *known;
    return recent_.Keep(name, std::make_shared<Entry>());
  }

  void Forget(const std::string& name, const std::shared_ptr<Entry>& entry) {
    const std::lock_guard lock(mutex_);
    if (auto* known = recent_.Find(name); known != nullptr && *known == entry) {
      recent_.Forget(name);
    }
  }

  std::mutex mutex_;
  Recent<std::shared_ptr<Entry>> recent_;
};

}  // namespace heapgauge::endpoint::api
