// The leak check at the end of the program, for `run --leaks`: the last thing that happens in the
// process before the kernel takes it down.
//
// By `exit` and the return from main we come last: the handler is registered by the agent's
// constructor, before the dynamic linker's own, so it runs after all others and after all
// destructors. As memcheck does, it then has the C and the C++ library free what they hold to the
// end (which also writes out what stdio has buffered, as `exit` would have done right after); from
// there on nothing of libc may be called, so it ends the process itself, with the status that the
// program gave. Where other threads still run, libc is left alone: they may be in the midst of what
// would be freed. `_exit` and `quick_exit` must not flush anything: there nothing is freed before.
//
// `exit`, `_exit` and `_Exit` are hooked to know how far the program's own stack reaches, and its
// registers; without --leaks the program is not bound to the first. By the others the gauge file
// knows that the program ended of its own will, which no destructor tells then. What ends by a
// signal, or by the system call itself, is not seen here.
#ifndef HEAPGAUGE_AGENT_LEAKS_EXIT_CHECK_H_
#define HEAPGAUGE_AGENT_LEAKS_EXIT_CHECK_H_

#include "agent/trace/trace_settings.h"

namespace heapgauge::agent {

// While the agent is relocated: decides whether the program is bound to our `exit` and its kin. Not
// to one whose real one is not found.
void PrepareExitHooks(bool checks_leaks);

// In the constructor.
void StartExitCheck(TraceSettings::Freeing freeing);

}  // namespace heapgauge::agent

#endif  // HEAPGAUGE_AGENT_LEAKS_EXIT_CHECK_H_
