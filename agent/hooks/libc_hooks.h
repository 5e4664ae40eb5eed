// The functions beside allocation that the agent has to know of: dlclose, after which addresses may
// mean something else; the two ways to install a seccomp filter, after which an unforeseen system
// call may kill the program; those by which a program gives up its rights, after which it cannot
// open its gauge file any more; and mmap, munmap and mremap, which are recorded with their stacks
// if HEAPGAUGE_MMAP asks for it.
//
// Allocators map memory while they start and while they hold their locks, so nothing of the last
// three allocates, looks a symbol up, or waits: the next definitions are found once, by the
// constructor. Calls before that go straight to the kernel. What code maps by system calls of its
// own, the C library's malloc and thread stacks among it, is not seen; the agent's own mappings are
// not either. Without HEAPGAUGE_MMAP the three are taken back from the symbol table before the
// program is bound; the libraries that are bound earlier reach the next definition by one jump.
#pragma once

namespace heapgauge::agent {

// Finds the next definitions. Before threads.
void ResolveLibcFunctions();
// The same for mmap and its kin, and passes their calls on.
void ResolveMapFunctions();
// Begins to record these. REQUIRES: ResolveMapFunctions, and that the recorder has started.
void StartRecordingMappings();
// Takes them back, as far as nobody is bound to them.
void HideMapFunctions();

}  // namespace heapgauge::agent
