// Whether this process has a record of its own. A forked child must not write into its parent's; it
// notices by a word in a page that the kernel wipes in the child, however it was forked. A vfork
// child shares all memory, and with it the parent's record, as it should.
//
// A small value: copies tell of the same process, also in a child. Any thread, async-signal-safe;
// zero-initialised.
#pragma once

#include <atomic>
#include <cstdint>

#include "agent/sys/os_memory.h"

namespace heapgauge::agent {

class ProcessLife {
 public:
  // To be followed by Settle. False where the kernel cannot wipe pages.
  bool Start() {
    state_ = static_cast<std::atomic<State>*>(os::MapWipedOnFork(4096));
    return state_ != nullptr;
  }
  bool has_started() const { return state_ != nullptr; }

  // It has one. REQUIRES: has_started().
  bool is_ready() const { return Load() == State::kReady; }
  // It is a forked child that has none yet.
  bool is_forked() const { return Load() == State::kForked; }
  // It can have none.
  bool has_failed() const { return Load() == State::kFailed; }

  // In a forked child: true for the one thread that is to make the record and then calls Settle.
  bool Begin() {
    State expected = State::kForked;
    return state_->compare_exchange_strong(expected, State::kStarting);
  }
  void Settle(bool ready) {
    state_->store(ready ? State::kReady : State::kFailed, std::memory_order_release);
  }

 private:
  enum class State : uint32_t { kForked = 0, kStarting, kReady, kFailed };
  State Load() const { return state_->load(std::memory_order_acquire); }

  std::atomic<State>* state_ = nullptr;  // in that page
};

}  // namespace heapgauge::agent
