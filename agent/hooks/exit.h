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
//
// The leak check, for `run --leaks`, is the last thing that happens in the process before the
// kernel takes it down. By `exit` and the return from main it comes last: the handler is registered
// by the agent's constructor, before the dynamic linker's own, so it runs after all others and
// after all destructors. As memcheck does, it then has the C and the C++ library free what they
// hold to the end (which also writes out what stdio has buffered, as `exit` would have done right
// after); from there on nothing of libc may be called, so it ends the process itself, with the
// status that the program gave. Where other threads still run, libc is left alone: they may be in
// the midst of what would be freed. `_exit` and `quick_exit` must not flush anything: there nothing
// is freed before.
#pragma once

#include "agent/trace/trace_settings.h"

namespace heapgauge::agent {

// While the agent is relocated: decides which of the functions the program is bound to. Not to one
// whose real one is not found.
void BindExitFunctions(bool checks_leaks);

// In the constructor.
void NoticeQuickExit();
void StartExitCheck(TraceSettings::Freeing freeing);

}  // namespace heapgauge::agent
