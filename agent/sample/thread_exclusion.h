// Keeps the blocks of a thread out of the profile: those of the agent's own service, which would
// otherwise find itself in every answer.
//
// Blocks that such a thread frees are looked up all the same. Calls nest. Allocation-free,
// async-signal-safe; costs nothing where no sample is due.
#ifndef HEAPGAUGE_AGENT_SAMPLE_THREAD_EXCLUSION_H_
#define HEAPGAUGE_AGENT_SAMPLE_THREAD_EXCLUSION_H_

#include "agent/sample/thread_state.h"

namespace heapgauge::agent {

// Begins, or ends, one exclusion of the calling thread.
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

#endif  // HEAPGAUGE_AGENT_SAMPLE_THREAD_EXCLUSION_H_
