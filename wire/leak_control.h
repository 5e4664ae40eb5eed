// How a program and those who look for its leaks talk to each other: words in the gauge file's
// header.
//
// Picture. Somebody outside who may not trace the program makes `picture_requests` the next odd
// number, and changes Control::generation; the next thread that comes by the agent's slow path
// forks a copy of the program that does nothing but stand still, and says so in the words behind.
// The copy ends when the number changes: to an even one, by whoever asked. For as long as somebody
// waits and looks, they hold a shared lock on these bytes of the open file (F_OFD_SETLK): a request
// that nobody holds one for is of somebody who was killed, and counts as taken back.
//
// Check. A program that wants its own blocks checked (at its end, or at the end of a scope) fills
// in the question, adds 1 to `check_requests` and waits, a bounded time, for `check_answers` to
// become equal. The recorder of an exact trace answers.
//
// Neither side trusts the other: all is read within bounds.
#pragma once

#include <cstdint>

namespace heapgauge::wire {

enum class CheckReason : uint32_t { kNone = 0, kExit = 1, kScope = 2 };

struct LeakControl {
  // By those outside.
  uint32_t picture_requests;
  // By the agent.
  uint32_t picture_answers;  // the request that the words below answer; written last
  uint32_t picture_pid;      // of the copy; 0: it could not be made
  uint32_t picture_error;    // errno then
  uint64_t picture_pause_ns;
  uint64_t picture_stack_pointer;  // of the thread that forked
  uint32_t picture_thread;         // its kernel id

  // By the program.
  uint32_t wants_exit_check;  // 1: it waits for a check when it ends
  uint32_t check_requests;    // the word that the recorder looks at
  uint32_t check_reason;      // CheckReason
  uint32_t check_thread;      // kernel id of the one that asks
  uint32_t check_number;      // of the scope, for the name of its report
  uint64_t check_since;       // TraceClock; blocks that are older are not of interest
  uint64_t check_stack_pointer;

  // By the recorder.
  uint32_t check_answers;  // futex; written after the words below
  uint32_t check_error;    // 0, or errno: it could not be done
  uint64_t lost_blocks;    // definitely and indirectly
  uint64_t lost_bytes;
  uint64_t possible_blocks;
  uint64_t possible_bytes;
  uint64_t live_blocks;  // reachable ones
  uint64_t live_bytes;
};
static_assert(sizeof(LeakControl) == 128);

}  // namespace heapgauge::wire
