// What the agent and other libraries of ours in the same process agree on: being told when totals
// pass a mark, and keeping the blocks of a thread out of the profile.
//
// The agent looks at marks where it samples, so nothing is late and no thread has to poll. Figures
// are estimates, as all of the agent's are, and count from the last reset.
#pragma once

#include <cstdint>

namespace heapgauge::wire {

struct Marks {
  static constexpr uint64_t kNever = UINT64_MAX;

  uint64_t allocated = kNever;  // ever
  uint64_t freed = kNever;
  uint64_t live = kNever;
};

// Called once, when the first of the marks is reached or passed; then they are all off until they
// are set again. By any thread, in the middle of an allocation or release, perhaps in a signal
// handler; no lock of the agent's or the allocator's own is held, unless that handler interrupted
// one.
using WatchCallback = void();

// The type of the function that the agent exports as heapgauge_watch_v1. Sets marks, if `marks` is
// not null, and stores what the totals are now, if `totals` is not null. For one thread at a time.
using WatchFunction = void(WatchCallback* callback, const Marks* marks, Marks* totals);

// The type of the function that the agent exports as heapgauge_exclude_v1: begins (1) or ends (0)
// one exclusion of the calling thread. They nest.
using ExcludeFunction = void(int exclude);

}  // namespace heapgauge::wire
