// How the agent came into this process: because somebody asked for it (LD_PRELOAD, the dynamic
// linker's own list), or because the program or one of its libraries was linked with it. The first
// profiles unless told otherwise; the second waits to be asked.
//
// Allocation-free. While the dynamic linker starts the program: by one thread.
#ifndef HEAPGAUGE_AGENT_HOOKS_CAME_BY_PRELOAD_H_
#define HEAPGAUGE_AGENT_HOOKS_CAME_BY_PRELOAD_H_

namespace heapgauge::agent {

bool CameByPreload(char** environment);

}  // namespace heapgauge::agent

#endif  // HEAPGAUGE_AGENT_HOOKS_CAME_BY_PRELOAD_H_
