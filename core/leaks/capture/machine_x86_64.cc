#if !defined(__x86_64__)
#error "core/leaks/capture: add machine_ARCHITECTURE.cc for this processor"
#endif

#include <cpuid.h>
#include <elf.h>
#include <errno.h>
#include <linux/sched.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstring>

#include "core/leaks/capture/machine.h"

namespace heapgauge::leaks {
namespace {

// Of the kernel's own: a system call that was stopped ends by one of these, which the program never
// gets to see.
constexpr int64_t kRestartSys = -512;
constexpr int64_t kRestartNoInterrupt = -513;
constexpr int64_t kRestartNoHandler = -514;
constexpr int64_t kRestartBlock = -516;

constexpr uint64_t kUserCode = 0x33;
constexpr uint64_t kUserStack = 0x2b;
constexpr uint64_t kSyscallBytes = 2;
constexpr uint64_t kFrameAlign = 64;
// For handlers of signals that would run meanwhile.
constexpr uint64_t kSpareRoom = 16 * 1024;

// The beginning of a signal frame, as the kernel reads it back.
struct SignalContext {
  uint64_t r8, r9, r10, r11, r12, r13, r14, r15;
  uint64_t rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip, flags;
  uint16_t cs, gs, fs, ss;
  uint64_t error, trap, old_mask, fault_address;
  uint64_t floating_point;  // address
  uint64_t reserved[8];
};
static_assert(sizeof(SignalContext) == 256);

struct SignalFrame {
  uint64_t return_address;
  uint64_t flags;
  uint64_t link;
  uint64_t stack_address;
  int32_t stack_flags;
  uint32_t padding;
  uint64_t stack_bytes;
  SignalContext context;
  uint64_t signal_mask;
};
constexpr uint64_t kHasExtendedState = 1;
constexpr uint64_t kHasStackSegment = 2;
constexpr uint64_t kRestoresStackSegment = 4;
// Not one that the kernel knows: it leaves the alternate stack alone.
constexpr int32_t kLeaveAlternateStack = 0x7000;

// What follows the first 464 bytes of extended state in a signal frame.
struct ExtendedStateInfo {
  uint32_t magic;
  uint32_t extended_bytes;
  uint64_t features;
  uint32_t state_bytes;
  uint32_t padding[7];
};
constexpr size_t kInfoOffset = 464;
constexpr uint32_t kInfoMagic = 0x46505853;
constexpr uint32_t kEndMagic = 0x46505845;
constexpr uint64_t kTileFeatures = uint64_t{3} << 17;
constexpr size_t kLeastState = 576;

// The size of the state with these features, as XSAVE lays it out.
size_t StateBytes(uint64_t features) {
  size_t bytes = kLeastState;
  for (uint32_t i = 2; i < 63; ++i) {
    if ((features >> i & 1) == 0) continue;
    uint32_t size = 0;
    uint32_t offset = 0;
    uint32_t c = 0;
    uint32_t d = 0;
    if (__get_cpuid_count(0xd, i, &size, &offset, &c, &d) == 0) continue;
    bytes = std::max<size_t>(bytes, size_t{offset} + size);
  }
  return bytes;
}

// Vector registers and the like as a signal frame has them; empty if they cannot be read.
std::vector<uint8_t> ReadExtendedState(pid_t thread) {
  std::vector<uint8_t> state(64 * 1024);
  iovec io{state.data(), state.size()};
  if (ptrace(PTRACE_GETREGSET, thread, NT_X86_XSTATE, &io) != 0 || io.iov_len < kLeastState) {
    return {};
  }
  uint64_t features = 0;
  uint64_t in_use = 0;
  std::memcpy(&features, &state[kInfoOffset], sizeof features);
  std::memcpy(&in_use, &state[512], sizeof in_use);
  // The kernel takes no larger frame than a thread that never used matrix tiles can have.
  if ((in_use & kTileFeatures) == 0) features &= ~kTileFeatures;
  const size_t bytes = std::min<size_t>(StateBytes(features), io.iov_len);
  state.resize(bytes + sizeof kEndMagic);
  ExtendedStateInfo info{};
  info.magic = kInfoMagic;
  info.extended_bytes = static_cast<uint32_t>(bytes + sizeof kEndMagic);
  info.features = features;
  info.state_bytes = static_cast<uint32_t>(bytes);
  std::memcpy(&state[kInfoOffset], &info, sizeof info);
  std::memcpy(&state[bytes], &kEndMagic, sizeof kEndMagic);
  return state;
}

SignalFrame FrameOf(const MachineRegisters& r, uint64_t signal_mask, uint64_t handler_return) {
  SignalFrame frame{};
  frame.return_address = handler_return;
  frame.flags = kHasExtendedState | kHasStackSegment | kRestoresStackSegment;
  frame.stack_flags = kLeaveAlternateStack;
  frame.signal_mask = signal_mask;
  SignalContext& c = frame.context;
  c.r8 = r.r8;
  c.r9 = r.r9;
  c.r10 = r.r10;
  c.r11 = r.r11;
  c.r12 = r.r12;
  c.r13 = r.r13;
  c.r14 = r.r14;
  c.r15 = r.r15;
  c.rdi = r.rdi;
  c.rsi = r.rsi;
  c.rbp = r.rbp;
  c.rbx = r.rbx;
  c.rdx = r.rdx;
  c.rax = r.rax;
  c.rcx = r.rcx;
  c.rsp = r.rsp;
  c.rip = r.rip;
  c.flags = r.eflags;
  c.cs = static_cast<uint16_t>(r.cs);
  c.gs = static_cast<uint16_t>(r.gs);
  c.fs = static_cast<uint16_t>(r.fs);
  c.ss = static_cast<uint16_t>(r.ss);
  // What the kernel does with a system call that was stopped, on the way back to the program.
  if (static_cast<int64_t>(r.orig_rax) >= 0) {
    switch (static_cast<int64_t>(r.rax)) {
      case kRestartSys:
      case kRestartNoInterrupt:
      case kRestartNoHandler:
        c.rax = r.orig_rax;
        c.rip -= kSyscallBytes;
        break;
      case kRestartBlock:
        c.rax = static_cast<uint64_t>(-int64_t{EINTR});
        break;
      default:
        break;
    }
  }
  return frame;
}

SignalFrame ExitFrame(const CallSite& site, uint64_t stack) {
  SignalFrame frame{};
  frame.return_address = site.handler_return;
  frame.flags = kHasStackSegment | kRestoresStackSegment;
  frame.stack_flags = kLeaveAlternateStack;
  frame.signal_mask = ~uint64_t{0};
  frame.context.rip = site.system_call;
  frame.context.rax = SYS_exit_group;
  frame.context.rdi = kUntracedExitStatus;
  frame.context.rsp = stack;
  frame.context.flags = 0x202;
  frame.context.cs = kUserCode;
  frame.context.ss = kUserStack;
  return frame;
}

constexpr uint64_t AlignedUp(uint64_t value) {
  return (value + kFrameAlign - 1) / kFrameAlign * kFrameAlign;
}

}  // namespace

bool ReadRegisters(pid_t thread, MachineRegisters* registers) {
  return ptrace(PTRACE_GETREGS, thread, nullptr, registers) == 0;
}

bool WriteRegisters(pid_t thread, const MachineRegisters& registers) {
  return ptrace(PTRACE_SETREGS, thread, nullptr, &registers) == 0;
}

uint64_t StackPointerOf(const MachineRegisters& registers) { return registers.rsp; }
uint64_t ThreadPointerOf(const MachineRegisters& registers) { return registers.fs_base; }

std::vector<NamedRegister> GeneralRegisters(const MachineRegisters& r) {
  return {{"rax", r.rax}, {"rbx", r.rbx}, {"rcx", r.rcx}, {"rdx", r.rdx}, {"rsi", r.rsi},
          {"rdi", r.rdi}, {"rbp", r.rbp}, {"r8", r.r8},   {"r9", r.r9},   {"r10", r.r10},
          {"r11", r.r11}, {"r12", r.r12}, {"r13", r.r13}, {"r14", r.r14}, {"r15", r.r15}};
}

bool RestartUnlessSignalled(MachineRegisters* registers) {
  if (static_cast<int64_t>(registers->rax) != -int64_t{EINTR}) return false;
  switch (static_cast<int64_t>(registers->orig_rax)) {
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
    case 441:  // epoll_pwait2
    case SYS_semop:
    case SYS_semtimedop:
    case SYS_rt_sigtimedwait:
    case SYS_io_getevents:
    case 333:  // io_pgetevents
    case 426:  // io_uring_enter
    // These where the socket has a timeout. If anything was transferred they do not end by EINTR.
    case SYS_read:
    case SYS_readv:
    case SYS_write:
    case SYS_writev:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_recvmmsg:
    case SYS_sendto:
    case SYS_sendmsg:
    case SYS_sendmmsg:
    case SYS_sendfile:
    case SYS_splice:
    case SYS_preadv2:  // these two at the place of the file, which a socket has none of
    case SYS_pwritev2:
    case SYS_accept:
    case SYS_accept4:
    case SYS_connect:
      registers->rax = static_cast<uint64_t>(kRestartNoHandler);
      return true;
    default:
      return false;
  }
}

Interruption InterruptionOf(const MachineRegisters& registers) {
  if (registers.cs != kUserCode) return Interruption::kForeign;
  if (static_cast<int64_t>(registers.orig_rax) < 0) return Interruption::kNone;
  const auto result = static_cast<int64_t>(registers.rax);
  return result == kRestartBlock ? Interruption::kTimed : Interruption::kRestartable;
}

void FindCallSite(std::string_view code, uint64_t address, CallSite* site) {
  // syscall; ret
  constexpr std::string_view kCall("\x0f\x05\xc3", 3);
  // mov $15,%rax; syscall
  constexpr std::string_view kReturn("\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05", 9);
  static_assert(kCall.size() <= kCallSiteBytes && kReturn.size() <= kCallSiteBytes);
  if (site->system_call == 0) {
    const size_t at = code.find(kCall);
    if (at != std::string_view::npos) site->system_call = address + at;
  }
  if (site->handler_return == 0) {
    const size_t at = code.find(kReturn);
    if (at != std::string_view::npos) site->handler_return = address + at;
  }
}

SystemCall ForkCall() {
  // The second argument, the child's stack, is for PrepareCall to fill in.
  return {SYS_clone, {CLONE_FILES}};
}

SystemCall ReapCall(uint64_t child) {
  return {SYS_wait4, {child, 0, static_cast<uint64_t>(__WALL | WNOHANG), 0}};
}

std::optional<PreparedCall> PrepareCall(pid_t thread, const MachineRegisters& saved,
                                        uint64_t signal_mask, const CallSite& site,
                                        const SystemCall& call, uint64_t room) {
  if (saved.cs != kUserCode || !site.complete()) return std::nullopt;
  const std::vector<uint8_t> state = ReadExtendedState(thread);
  if (state.empty()) return std::nullopt;
  // From low to high: the frame of this thread, a child's, and the extended state of the first.
  const uint64_t child_at = AlignedUp(sizeof(SignalFrame));
  const uint64_t state_at = AlignedUp(child_at + sizeof(SignalFrame) + 256);
  const uint64_t bytes = AlignedUp(state_at + state.size());
  if (room < bytes + kRedZoneBytes + kFrameAlign + kSpareRoom) return std::nullopt;
  PreparedCall prepared;
  prepared.address = (saved.rsp - kRedZoneBytes - bytes) / kFrameAlign * kFrameAlign;
  prepared.bytes.resize(bytes);
  SignalFrame own = FrameOf(saved, signal_mask, site.handler_return);
  own.context.floating_point = prepared.address + state_at;
  const SignalFrame exits =
      ExitFrame(site, prepared.address + child_at + sizeof(SignalFrame) + 128);
  std::memcpy(prepared.bytes.data(), &own, sizeof own);
  std::memcpy(prepared.bytes.data() + child_at, &exits, sizeof exits);
  std::memcpy(prepared.bytes.data() + state_at, state.data(), state.size());

  MachineRegisters& r = prepared.registers;
  r = saved;
  r.orig_rax = ~0ull;  // it is in no system call that could be started again
  r.rip = site.system_call;
  r.rsp = prepared.address;
  r.rax = static_cast<uint64_t>(call.number);
  r.rdi = call.arguments[0];
  r.rsi = call.number == SYS_clone ? prepared.address + child_at : call.arguments[1];
  r.rdx = call.arguments[2];
  r.r10 = call.arguments[3];
  r.r8 = call.arguments[4];
  r.r9 = call.arguments[5];
  r.eflags &= ~uint64_t{0x500};  // neither single steps nor a backward direction
  return prepared;
}

long ResultOf(const MachineRegisters& registers) { return static_cast<long>(registers.rax); }

bool IsMadeAgain(long result) {
  return result == kRestartSys || result == kRestartNoInterrupt || result == kRestartNoHandler;
}

}  // namespace heapgauge::leaks
