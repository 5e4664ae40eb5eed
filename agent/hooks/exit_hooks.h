// How the agent learns that the program ends of its own will, where its destructor (start.cc) does
// not tell: it notes the end in the gauge file, and has leaks looked for where that was asked for.
//
//   exit        comes to the destructor. Hooked for leak checks alone, which want to know how far
//               the program's own stack reaches, and its registers.
//   _exit, _Exit  run no destructor, so they are hooked.
//   quick_exit  runs handlers: ours is the first to be registered and the last to run. It is not
//               hooked, as libc has two of that name, and which one is meant only the linker knows.
//
// What ends by a signal, or by the system call itself, is not seen here.
#ifndef HEAPGAUGE_AGENT_HOOKS_EXIT_HOOKS_H_
#define HEAPGAUGE_AGENT_HOOKS_EXIT_HOOKS_H_

namespace heapgauge::agent {

// While the agent is relocated: decides which of the functions the program is bound to. Not to one
// whose real one is not found.
void BindExitFunctions(bool checks_leaks);

// In the constructor.
void NoticeQuickExit();

}  // namespace heapgauge::agent

#endif  // HEAPGAUGE_AGENT_HOOKS_EXIT_HOOKS_H_
