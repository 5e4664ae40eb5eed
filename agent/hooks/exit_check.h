// The leak check at the end of the program, for `run --leaks`: the last thing that happens in the
// process before the kernel takes it down. hooks/exit_hooks.h tells when that is.
//
// By `exit` and the return from main we come last: the handler is registered by the agent's
// constructor, before the dynamic linker's own, so it runs after all others and after all
// destructors. As memcheck does, it then has the C and the C++ library free what they hold to the
// end (which also writes out what stdio has buffered, as `exit` would have done right after); from
// there on nothing of libc may be called, so it ends the process itself, with the status that the
// program gave. Where other threads still run, libc is left alone: they may be in the midst of what
// would be freed. `_exit` and `quick_exit` must not flush anything: there nothing is freed before.
#ifndef HEAPGAUGE_AGENT_HOOKS_EXIT_CHECK_H_
#define HEAPGAUGE_AGENT_HOOKS_EXIT_CHECK_H_

#include <cstdint>

#include "agent/trace/trace_settings.h"

namespace heapgauge::agent {

// In the constructor.
void StartExitCheck(TraceSettings::Freeing freeing);

// The program has called `exit`; its stack and registers begin at `sp`.
void NoteExitCall(uintptr_t sp);

// It ends without more ado. Does nothing unless the check was started.
void CheckLeaksAtOnce(uintptr_t sp);

}  // namespace heapgauge::agent

#endif  // HEAPGAUGE_AGENT_HOOKS_EXIT_CHECK_H_
