// Engines are called by one thread at a time: whoever uses one holds this.
//
//   const std::lock_guard lock(EngineLock());
#pragma once

#include <mutex>

namespace heapgauge::endpoint {

inline std::mutex& EngineLock() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace heapgauge::endpoint
