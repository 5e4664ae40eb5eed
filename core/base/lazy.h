// A value that is made when it is first asked for, once, and stays.
//
// Threads: any number may ask; one makes it, the others wait. If making it throws, the next one
// tries again.
#pragma once

#include <mutex>
#include <optional>

namespace heapgauge {

template <typename T>
class Lazy {
 public:
  // `make` gives a T and must not ask for this value itself.
  template <typename Make>
  const T& Get(const Make& make) const {
    const std::lock_guard lock(mutex_);
    if (!value_) value_.emplace(make());
    return *value_;
  }

 private:
  mutable std::mutex mutex_;
  mutable std::optional<T> value_;
};

}  // namespace heapgauge
