// Whether the recorder that a program was told of is gone: one that starts after that need not wait
// for somebody to empty its buffers.
//
// Two system calls. Allocation-free, async-signal-safe.
#ifndef HEAPGAUGE_AGENT_TRACE_RECORDER_LIFE_H_
#define HEAPGAUGE_AGENT_TRACE_RECORDER_LIFE_H_

#include "agent/trace/trace_settings.h"

namespace heapgauge::agent {

// False as well where that cannot be told: in another pid namespace than the recorder's its number
// is that of nobody, or of somebody else.
bool IsRecorderGone(const TraceSettings& settings);

}  // namespace heapgauge::agent

#endif  // HEAPGAUGE_AGENT_TRACE_RECORDER_LIFE_H_
