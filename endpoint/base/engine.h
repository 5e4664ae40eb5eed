// The profiler that an allocator brings along, driven by its own interface. Where an allocator is
// linked into the program and hooks cannot see it, this is what there is.
//
// Implemented inside the process (service/engines), since mallctl and its like are function calls.
// The outside host has none. Threads: called by one at a time, which holds EngineLock().
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"

namespace heapgauge::endpoint {

class Engine {
 public:
  virtual ~Engine() = default;

  // "jemalloc", "tcmalloc": the value of ?engine=.
  virtual std::string_view name() const = 0;

  struct State {
    bool can_profile = false;
    std::string why_not;  // one line: what to do so that it can
    bool active = false;
    uint64_t interval = 0;  // mean bytes between samples; 0 unknown
    std::string version;
  };
  virtual State state() = 0;

  // A profile in the engine's own format, to be read by core/formats/read_profile.
  virtual Result<std::string> TakeHeap() = 0;
  virtual Result<std::string> TakeGrowth() = 0;

  virtual Status SetActive(bool active) = 0;
  virtual Status SetInterval(uint64_t bytes) = 0;
  virtual Status Reset() = 0;

  // Its statistics as text. `options` are letters as malloc_stats_print takes them, checked by the
  // caller.
  virtual Result<std::string> Statistics(const std::string& options) = 0;

  // What it says of itself: "allocated", "active", "resident", "metadata", "mapped", "retained",
  // "cached" ..., in bytes; only those that it has.
  virtual std::vector<std::pair<std::string, uint64_t>> Figures() = 0;
};

// The thread that uses an engine holds this.
//
//   const std::lock_guard lock(EngineLock());
inline std::mutex& EngineLock() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace heapgauge::endpoint
