#include "core/leaks/capture/searching_copy.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include <cerrno>
#include <initializer_list>

#include "core/leaks/capture/traced_thread.h"

extern "C" {
extern const uint8_t heapgauge_search_code[];
extern const uint8_t heapgauge_search_code_end[];
}

namespace heapgauge::leaks {
namespace {

// Our memory in the copy: the code, the ranges, values and places.
constexpr uint64_t kRangesAt = 4096;
constexpr uint64_t kValuesAt = kRangesAt + SearchingCopy::kMostRanges * sizeof(AddressRange);
constexpr uint64_t kPlacesAt = kValuesAt + SearchingCopy::kMostWords * sizeof(uint64_t);
constexpr uint64_t kAllBytes = kPlacesAt + SearchingCopy::kMostWords * sizeof(uint32_t);
static_assert(sizeof(AddressRange) == 16);

iovec Remote(uint64_t address, size_t bytes) { return {reinterpret_cast<void*>(address), bytes}; }

bool Write(pid_t process, uint64_t address, const void* from, size_t bytes) {
  const iovec local{const_cast<void*>(from), bytes};
  const iovec remote = Remote(address, bytes);
  return process_vm_writev(process, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
}

// The signal that it stopped for, once it has, and above it the event of ptrace if it was one; 0 if
// it has ended.
int WaitForSignal(pid_t thread) {
  int status = 0;
  while (waitpid(thread, &status, __WALL) < 0) {
    if (errno != EINTR) return 0;
  }
  return WIFSTOPPED(status) ? status >> 8 : 0;
}

}  // namespace

bool SearchingCopy::Call(const SystemCall& call, long* value) {
  MachineRegisters r = registers_;
  r.rip = site_.system_call;
  r.rax = static_cast<uint64_t>(call.number);
  r.rdi = call.arguments[0];
  r.rsi = call.arguments[1];
  r.rdx = call.arguments[2];
  r.r10 = call.arguments[3];
  r.r8 = call.arguments[4];
  r.r9 = call.arguments[5];
  if (!WriteRegisters(copy_, r)) return false;
  for (int stops = 0; stops < 2;) {
    if (ResumeToSystemCall(copy_, 0) != 0) return false;
    const int signal = WaitForSignal(copy_);
    if (signal == 0) return false;
    if (signal == (SIGTRAP | 0x80)) ++stops;
  }
  if (!ReadRegisters(copy_, &r)) return false;
  *value = ResultOf(r);
  return true;
}

bool SearchingCopy::Attach(pid_t copy, const CallSite& site) {
  if (!ReadRegisters(copy, &registers_)) return false;
  registers_.orig_rax = ~0ull;  // it is in no system call that could be started again
  registers_.eflags &= ~uint64_t{0x500};
  if (ptrace(PTRACE_SETOPTIONS, copy, nullptr, PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD) != 0 ||
      WriteSignalMask(copy, ~uint64_t{0}) != 0) {
    return false;
  }
  copy_ = copy;
  site_ = site;
  return true;
}

void SearchingCopy::CloseFiles() {
  constexpr long kCloseRange = 436;
  constexpr uint64_t kUnshare = 2;  // a table of its own, which it leaves the range out of
  long value = 0;
  // If it ends by that, that shows at the next call.
  (void)Call({kCloseRange, {0, ~uint32_t{0}, kUnshare}}, &value);
}

bool SearchingCopy::Prepare() {
  if (copy_ == 0) return false;
  for (const bool has : {__builtin_cpu_supports("avx2") != 0, __builtin_cpu_supports("bmi") != 0,
                         __builtin_cpu_supports("popcnt") != 0}) {
    if (!has) return false;
  }
  long address = 0;
  const SystemCall map = {SYS_mmap,
                          {0, kAllBytes, PROT_READ | PROT_WRITE | PROT_EXEC,
                           MAP_PRIVATE | MAP_ANONYMOUS, ~uint64_t{0}, 0}};
  if (!Call(map, &address) || (address < 0 && address > -4096)) return false;
  memory_ = static_cast<uint64_t>(address);
  return Write(copy_, memory_, heapgauge_search_code,
               static_cast<size_t>(heapgauge_search_code_end - heapgauge_search_code));
}

bool SearchingCopy::Begin(const std::vector<AddressRange>& ranges, uint64_t base, uint64_t low,
                          uint64_t span) {
  ranges_ = ranges.size();
  base_ = base;
  low_ = low;
  span_ = span;
  range_ = 0;
  next_ = 0;
  return Write(copy_, memory_ + kRangesAt, ranges.data(), ranges.size() * sizeof(AddressRange));
}

SearchingCopy::Result SearchingCopy::Run(uint64_t* values, uint32_t* places, size_t* count) {
  MachineRegisters r = registers_;
  const uint64_t first = memory_ + kRangesAt;
  r.rip = memory_;
  r.rdi = first + range_ * sizeof(AddressRange);
  r.rsi = first + ranges_ * sizeof(AddressRange);
  r.rdx = memory_ + kValuesAt;
  r.rcx = memory_ + kPlacesAt;
  r.r8 = kMostWords;
  r.r9 = 0;
  r.r10 = base_;
  r.r11 = low_ - 1;
  r.r12 = low_ + span_;
  r.rbx = next_;
  if (!WriteRegisters(copy_, r) || Resume(copy_, 0) != 0) return {};
  int signal = 0;
  while ((signal = WaitForSignal(copy_)) != SIGTRAP) {
    if (signal == 0) return {};
    if (signal == SIGSEGV || signal == SIGBUS) break;
    if (Resume(copy_, 0) != 0) return {};
  }
  if (!ReadRegisters(copy_, &r) || r.r9 > kMostWords || r.rdi < first || r.rdi > r.rsi) return {};
  // A stop of another kind, or a fault that is not ours.
  if (r.rip < memory_ || r.rip >= memory_ + kRangesAt) return {};
  const auto found = static_cast<size_t>(r.r9);
  const iovec local[] = {{values, found * sizeof *values}, {places, found * sizeof *places}};
  const iovec remote[] = {Remote(memory_ + kValuesAt, found * sizeof *values),
                          Remote(memory_ + kPlacesAt, found * sizeof *places)};
  const auto bytes = static_cast<ssize_t>(found * (sizeof *values + sizeof *places));
  if (found != 0 && process_vm_readv(copy_, local, 2, remote, 2, 0) != bytes) return {};
  *count = found;
  range_ = static_cast<size_t>((r.rdi - first) / sizeof(AddressRange));
  next_ = r.rbx;
  Stop stop = Stop::kUnreadable;
  if (signal == SIGTRAP) stop = range_ == ranges_ ? Stop::kDone : Stop::kFull;
  return {stop, range_, next_};
}

}  // namespace heapgauge::leaks
