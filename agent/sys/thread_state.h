// What the agent keeps in each thread's static TLS: at most 64 bytes, zero at the thread's start,
// never destroyed, so that it works before constructors and after TLS destructors. Also two things
// that are kept there: a number of its own for each thread, and whether its blocks are sampled.
//
// Allocation-free, async-signal-safe.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

// Symbols that parts of the agent share by their plain names, and nobody else sees.
#define HG_HIDDEN extern "C" __attribute__((visibility("hidden")))

namespace heapgauge::agent {

struct TraceLane;

struct ThreadState {
  uint64_t countdown;  // bytes until the slow path is entered; first, the stubs subtract from it
  uint64_t interval;   // mean of the gap that is being counted down; 0: draw anew at the next block
  uint64_t random;     // state of the generator; 0: not seeded
  uint32_t token;      // a number of its own for each thread, 0 not yet given
  uint32_t thread_id;  // kernel's, 0 not yet asked for
  uint32_t walker;     // which walker it used last, plus 1
  uint32_t capped;     // 1: the gap is longer than the countdown, and goes on where that ends
  uint32_t process;    // number of the process (counted through forks) that thread_id was asked in
  uint32_t excluded;   // how often ExcludeThread(true) is in force; its blocks are not sampled
  uint16_t labels;     // current set of labels (table/label_table.h), 0 none
  uint16_t name;       // the set that is the thread's name, 0 none: at the root of `labels`
  TraceLane* lane;     // of an exact trace (trace/trace_lanes.h), as long as that says it is ours
};
static_assert(sizeof(ThreadState) <= 64);
static_assert(offsetof(ThreadState, countdown) == 0);

}  // namespace heapgauge::agent

extern "C" __attribute__((
    visibility("hidden"),
    tls_model("initial-exec"))) thread_local constinit heapgauge::agent::ThreadState hg_thread;

namespace heapgauge::agent {

// Numbers given to threads so far, in order of appearance. Kept through fork.
inline std::atomic<uint32_t> thread_tokens{0};

// The calling thread's number, which is given to it if it has none.
inline uint32_t TokenOf(ThreadState* thread) {
  if (thread->token == 0) {
    thread->token = thread_tokens.fetch_add(1, std::memory_order_relaxed) + 1;
  }
  return thread->token;
}

// Keeps the blocks of the calling thread out of the profile, or ends that: those of the agent's own
// service, which would otherwise find itself in every answer. Blocks that such a thread frees are
// looked up as always. Calls nest. Costs nothing where no sample is due.
inline void ExcludeThread(bool exclude) {
  uint32_t& count = hg_thread.excluded;
  if (exclude) {
    ++count;
  } else if (count > 0) {
    --count;
  }
}

inline bool ThreadIsExcluded() { return hg_thread.excluded != 0; }

}  // namespace heapgauge::agent
