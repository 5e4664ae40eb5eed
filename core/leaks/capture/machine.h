// What a picture of a program needs to know of the processor: registers of a stopped thread, and
// how a thread is made to do one system call and to be afterwards as if it never had.
//
// That call must do no harm even if we are killed in the middle of it. So the thread is never just
// pointed to a system call: its true state is first written below its stack, as the kernel writes
// it for a signal handler, and the call is one that returns into the end of a handler. Left alone
// at any moment, the thread makes the call, restores itself by that, and goes on. A child that the
// call makes has a state of its own there: one that exits.
//
// Each architecture has one file, machine_ARCH.cc. Functions are pure but for those that
// take the id of a thread, which must be stopped and traced by the calling thread; these set errno.
#pragma once

#include <sys/types.h>
#include <sys/user.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace heapgauge::leaks {

using MachineRegisters = user_regs_struct;

bool ReadRegisters(pid_t thread, MachineRegisters* registers);
bool WriteRegisters(pid_t thread, const MachineRegisters& registers);

uint64_t StackPointerOf(const MachineRegisters& registers);
uint64_t ThreadPointerOf(const MachineRegisters& registers);
// Bytes below the stack pointer that belong to the running function.
inline constexpr uint64_t kRedZoneBytes = 128;

struct NamedRegister {
  const char* name;  // of static storage
  uint64_t value;
};
// Those that can hold a pointer.
std::vector<NamedRegister> GeneralRegisters(const MachineRegisters& registers);

// Some system calls answer EINTR to anybody who stops a thread, though no signal was there.
// Changes the registers of a thread that was stopped in one of these, so that the kernel starts the
// call again unless a handler runs. True if there was something to change.
bool RestartUnlessSignalled(MachineRegisters* registers);

// How well a stopped thread can be made to do a call: the least is the best.
enum class Interruption : uint8_t {
  kNone,         // it was running
  kRestartable,  // in a system call that is simply started again
  kTimed,        // in one whose rest the kernel remembers; if we were killed it would end by EINTR
  kForeign,      // not code that we know: another instruction set
};
Interruption InterruptionOf(const MachineRegisters& registers);

// Code in the program that calls go through. Both are in every C library.
struct CallSite {
  uint64_t system_call = 0;     // makes a system call and returns
  uint64_t handler_return = 0;  // where handlers of signals return to
  bool complete() const { return system_call != 0 && handler_return != 0; }
};
// So many bytes tell what is at either.
inline constexpr size_t kCallSiteBytes = 9;
// Looks for what is missing in code that is mapped at `address`.
void FindCallSite(std::string_view code, uint64_t address, CallSite* site);

struct SystemCall {
  long number = 0;
  uint64_t arguments[6] = {};
};
// How a copy ends that nobody traces.
inline constexpr int kUntracedExitStatus = 72;
// fork() without a signal at the child's end, invisible to wait() of the program. It shares the
// table of open files: one of its own would keep open what the program closes.
SystemCall ForkCall();
// wait4 for such a child that has ended.
SystemCall ReapCall(uint64_t child);

// What is written where, and the registers to run with.
struct PreparedCall {
  uint64_t address = 0;
  std::vector<uint8_t> bytes;
  MachineRegisters registers{};
};
// `room` is how many bytes below the stack pointer are stack. Nothing if that is not enough, or if
// the thread's state cannot be read.
std::optional<PreparedCall> PrepareCall(pid_t thread, const MachineRegisters& saved,
                                        uint64_t signal_mask, const CallSite& site,
                                        const SystemCall& call, uint64_t room);
// What the call returned: -errno if it is negative.
long ResultOf(const MachineRegisters& registers);
// Whether a call with this result is made once more by the kernel, as a signal was in its way.
bool IsMadeAgain(long result);

}  // namespace heapgauge::leaks
