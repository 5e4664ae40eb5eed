// The last few of something by name, each made once, when it is first asked for.
//
// Threads: any number. Who asks for what another is making waits for it; who asks for anything else
// does not.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "core/base/result.h"
#include "endpoint/api/recent.h"

namespace heapgauge::endpoint::api {

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
