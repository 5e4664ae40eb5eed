// Symbols that parts of the agent share by their plain names, and nobody else sees.
#ifndef HEAPGAUGE_AGENT_SYS_VISIBILITY_H_
#define HEAPGAUGE_AGENT_SYS_VISIBILITY_H_

#define HG_HIDDEN extern "C" __attribute__((visibility("hidden")))

#endif  // HEAPGAUGE_AGENT_SYS_VISIBILITY_H_
