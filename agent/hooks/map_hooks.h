// mmap, munmap and mremap: every call is recorded with its stack if HEAPGAUGE_MMAP asks for it.
//
// Allocators map memory while they start and while they hold their locks, so nothing here
// allocates, looks a symbol up, or waits: the next definitions of the functions are found once, by
// the constructor. Calls before that go straight to the kernel. What code maps by system calls of
// its own, the C library's malloc and thread stacks among it, is not seen; the agent's own mappings
// are not either.
//
// Without HEAPGAUGE_MMAP they are taken back from the symbol table before the program is bound; the
// libraries that are bound earlier reach the next definition by one jump.
#ifndef HEAPGAUGE_AGENT_HOOKS_MAP_HOOKS_H_
#define HEAPGAUGE_AGENT_HOOKS_MAP_HOOKS_H_

namespace heapgauge::agent {

// Finds the next definitions and passes calls on to them. Before threads.
void ResolveMapFunctions();
// Begins to record. REQUIRES: ResolveMapFunctions, and that the recorder has started.
void StartRecordingMappings();
// Takes the functions back, as far as nobody is bound to them.
void HideMapFunctions();

}  // namespace heapgauge::agent

#endif  // HEAPGAUGE_AGENT_HOOKS_MAP_HOOKS_H_
