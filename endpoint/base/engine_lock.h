// Engines are called by one thread at a time: whoever uses one holds this.
//
//   const std::lock_guard lock(EngineLock());
#ifndef HEAPGAUGE_ENDPOINT_BASE_ENGINE_LOCK_H_
#define HEAPGAUGE_ENDPOINT_BASE_ENGINE_LOCK_H_

#include <mutex>

namespace heapgauge::endpoint {

inline std::mutex& EngineLock() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace heapgauge::endpoint

#endif  // HEAPGAUGE_ENDPOINT_BASE_ENGINE_LOCK_H_
