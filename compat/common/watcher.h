// Dumps that are due by figures or time. A thread of this library's makes them; the thread that
// passed the mark waits for it, so that the dump shows the moment that it was made for.
//
// The thread is started when there is something to look out for, with all signals blocked, and is
// idle but for what the agent tells it. The wait of the other one has an end, so that nothing can
// hang: it may be in a signal handler, or hold locks of the program's. A forked child starts a
// thread of its own when it first passes a mark.
//
// Threads: any that is Working (agent_link.h); Wake by all.
#pragma once

#include <cstdint>

#include "wire/in_process.h"

namespace heapgauge::compat {

class WatchClient {
 public:
  static constexpr uint64_t kNever = UINT64_MAX;

  virtual ~WatchClient() = default;
  // What to look out for from now on.
  virtual wire::Marks marks() = 0;
  virtual uint64_t due_ns() { return kNever; }  // CLOCK_MONOTONIC
  // A mark was passed, by this or another client's measure, or time has come, or somebody called
  // Wake(). By the watcher's thread.
  virtual void Look(const wire::Marks& totals) = 0;
};

class Watcher {
 public:
  static Watcher& Get();

  // Once for each client, which lives for ever. At most four.
  void Add(WatchClient* client);
  // Marks or times have changed.
  void Arm();
  // Has the thread, if it can be had.
  bool Start();
  // Sets marks again that were passed while somebody was at work here.
  void Catch();
  // Makes the clients look, soon. Async-signal-safe.
  void Wake();
};

uint64_t MonotonicNs();

// While one exists, its thread is at work in this library: it holds the one lock that all state is
// under, its blocks are not profiled, and the agent need not tell it anything. Nests. Forked
// children find the lock free.
class Working {
 public:
  Working();
  ~Working();
  Working(const Working&) = delete;
  Working& operator=(const Working&) = delete;
  // In this thread.
  static bool now();
};

}  // namespace heapgauge::compat
