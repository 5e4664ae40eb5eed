// The moment at which HEAPGAUGE_HTTP takes effect: right before main.
//
// The agent's constructor is too early, since the C library is not initialised then, and the first
// sample may never come or come while the dynamic linker or the program holds locks. So, only if a
// port was asked for, the agent stands in for __libc_start_main, which the start code of every
// program calls once all libraries are there, and has it run a main that opens the port and then
// jumps to the program's own. Without HEAPGAUGE_HTTP the symbol is taken back before the program is
// bound. A program without that start code (Go's) gets no port.
#ifndef HEAPGAUGE_AGENT_HOOKS_PROGRAM_START_H_
#define HEAPGAUGE_AGENT_HOOKS_PROGRAM_START_H_

namespace heapgauge::agent {

// While the agent is relocated: decides whether the program will start through us.
void PrepareProgramStart(bool wanted);

}  // namespace heapgauge::agent

#endif  // HEAPGAUGE_AGENT_HOOKS_PROGRAM_START_H_
