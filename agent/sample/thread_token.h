// A number of its own for each thread that ever was, in order of appearance. Kept through fork.
// Async-signal-safe.
#ifndef HEAPGAUGE_AGENT_SAMPLE_THREAD_TOKEN_H_
#define HEAPGAUGE_AGENT_SAMPLE_THREAD_TOKEN_H_

#include <atomic>
#include <cstdint>

#include "agent/sample/thread_state.h"

namespace heapgauge::agent {

inline std::atomic<uint32_t> thread_tokens{0};

// The calling thread's token, which is given to it if it has none.
inline uint32_t TokenOf(ThreadState* thread) {
  if (thread->token == 0) {
    thread->token = thread_tokens.fetch_add(1, std::memory_order_relaxed) + 1;
  }
  return thread->token;
}

}  // namespace heapgauge::agent

#endif  // HEAPGAUGE_AGENT_SAMPLE_THREAD_TOKEN_H_
