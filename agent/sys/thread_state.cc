#include "agent/sys/thread_state.h"

thread_local constinit heapgauge::agent::ThreadState hg_thread{};
