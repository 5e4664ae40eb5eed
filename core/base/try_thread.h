// Starts a thread, or does not: where the number of threads is limited (RLIMIT_NPROC, pids.max) the
// caller does the work itself.
#ifndef HEAPGAUGE_CORE_BASE_TRY_THREAD_H_
#define HEAPGAUGE_CORE_BASE_TRY_THREAD_H_

#include <system_error>
#include <thread>
#include <utility>

namespace heapgauge {

// Not joinable if there is no thread to be had.
template <typename... Arguments>
std::thread TryThread(Arguments&&... arguments) {
  try {
    return std::thread(std::forward<Arguments>(arguments)...);
  } catch (const std::system_error&) {
    return {};
  }
}

}  // namespace heapgauge

#endif  // HEAPGAUGE_CORE_BASE_TRY_THREAD_H_
