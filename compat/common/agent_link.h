// The agent, as this library needs it: switches, totals, and the profile of this very moment.
//
// The agent is found at run time, by what it exports; without it nothing can be recorded, and every
// call says so. Threads: any.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/result.h"
#include "core/gauge/gauge_reader.h"
#include "core/model/profile.h"
#include "wire/in_process.h"

namespace heapgauge::compat {

class AgentLink {
 public:
  // Made at the first call and never destroyed.
  static AgentLink& Get();

  bool available() const;
  bool active() const;
  uint64_t interval() const;
  // In force when they return.
  void SetActive(bool active);
  void SetInterval(uint64_t bytes);
  void Reset();
  // Blocks of the calling thread carry this name from now on.
  void NameThread(const char* name);
  // Leaves the blocks of the calling thread out, or no longer. Nests.
  void ExcludeThread(bool exclude);

  wire::Marks Totals() const;
  void Watch(wire::WatchCallback* callback, const wire::Marks& marks);

  // What is live and was ever allocated since the last reset.
  Result<Profile> Read(ProfileKind kind = ProfileKind::kHeap) const;

 private:
  friend class Working;
  AgentLink();

  int (*available_)() = nullptr;
  int (*is_active_)() = nullptr;
  int (*set_active_)(int) = nullptr;
  uint64_t (*interval_)() = nullptr;
  int (*set_interval_)(uint64_t) = nullptr;
  int (*reset_)() = nullptr;
  int (*name_thread_)(const char*) = nullptr;
  const char* (*gauge_path_)() = nullptr;
  wire::WatchFunction* watch_ = nullptr;
  wire::ExcludeFunction* exclude_ = nullptr;
};

}  // namespace heapgauge::compat
