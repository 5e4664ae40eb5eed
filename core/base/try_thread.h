// Starts a thread, or does not: where the number of threads is limited (RLIMIT_NPROC, pids.max) the
// caller does the work itself.
#pragma once

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
