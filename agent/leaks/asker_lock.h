// Whether somebody still waits for a copy of the program, or looks at one: those who ask hold a
// lock on the open gauge file (wire/leak_control.h), which the kernel takes away however they end.
//
// Three system calls. Allocation-free, async-signal-safe.
#ifndef HEAPGAUGE_AGENT_LEAKS_ASKER_LOCK_H_
#define HEAPGAUGE_AGENT_LEAKS_ASKER_LOCK_H_

#include "agent/table/gauge_file.h"

namespace heapgauge::agent {

// False as well where that cannot be told: the file cannot be opened any more, or is on a file
// system without locks.
bool NobodyAsks(const GaugeFile& file);

}  // namespace heapgauge::agent

#endif  // HEAPGAUGE_AGENT_LEAKS_ASKER_LOCK_H_
