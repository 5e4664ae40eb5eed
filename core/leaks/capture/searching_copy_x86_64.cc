#include "core/leaks/capture/searching_copy.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <string>

#include "core/leaks/capture/stopped_process.h"

extern "C" {
extern const uint8_t heapgauge_search_code[];
extern const uint8_t heapgauge_search_code_end[];
extern const uint8_t heapgauge_wide_search_code[];
extern const uint8_t heapgauge_wide_search_code_end[];
}

namespace heapgauge::leaks {
namespace {

// Our memory in the copy: the code and the ranges. Buffers are elsewhere.
constexpr uint64_t kRangesAt = 4096;
constexpr uint64_t kAllBytes = kRangesAt + SearchingCopy::kMostRanges * sizeof(AddressRange);
static_assert(sizeof(AddressRange) == 16);

bool IsError(long value) { return value < 0 && value > -4096; }

bool CanSearch() {
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("bmi") != 0 &&
         __builtin_cpu_supports("popcnt") != 0;
}
bool CanSearchWide() {
  return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512vl") != 0;
}

// A file that another process has open, of so many bytes, as memory; null if that cannot be.
void* MapFileOf(pid_t process, long file, size_t bytes) {
  const std::string path = fmt::format("/proc/{}/fd/{}", process, file);
  const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) return nullptr;
  struct stat facts {};
  void* memory = MAP_FAILED;
  if (fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode) &&
      facts.st_size == static_cast<off_t>(bytes)) {
    memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  }
  close(fd);
  return memory == MAP_FAILED ? nullptr : memory;
}

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

SearchingCopy::~SearchingCopy() {
  if (buffers_ != nullptr) munmap(buffers_, kBuffers * sizeof(Buffer));
}

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
  has_own_files_ = Call({kCloseRange, {0, ~uint32_t{0}, kUnshare}}, &value) && value == 0;
}

uint64_t SearchingCopy::Map(uint64_t bytes, int rights, int flags, long file) {
  long address = 0;
  const SystemCall map = {SYS_mmap,
                          {0, bytes, static_cast<uint64_t>(rights), static_cast<uint64_t>(flags),
                           static_cast<uint64_t>(file), 0}};
  if (!Call(map, &address) || IsError(address)) return 0;
  return static_cast<uint64_t>(address);
}

bool SearchingCopy::ShareBuffers() {
  constexpr size_t kBytes = kBuffers * sizeof(Buffer);
  constexpr uint64_t kCloseOnExec = 1;
  if (!has_own_files_) return true;  // it would be a file of the program
  long file = 0;
  long done = 0;
  // Our memory there is zero up to now: no name.
  if (!Call({SYS_memfd_create, {memory_, kCloseOnExec}}, &file)) return false;
  if (IsError(file)) return true;
  if (!Call({SYS_ftruncate, {static_cast<uint64_t>(file), kBytes}}, &done)) return false;
  if (!IsError(done)) {
    buffers_ = static_cast<Buffer*>(MapFileOf(copy_, file, kBytes));
    if (buffers_ != nullptr) {
      remote_buffers_ = Map(kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file);
      is_shared_ = remote_buffers_ != 0;
    }
  }
  return Call({SYS_close, {static_cast<uint64_t>(file)}}, &done);
}

bool SearchingCopy::Prepare(const Means& means) {
  if (copy_ == 0 || !CanSearch()) return false;
  constexpr int kOwn = MAP_PRIVATE | MAP_ANONYMOUS;
  constexpr int kData = PROT_READ | PROT_WRITE;
  memory_ = Map(kAllBytes, kData | PROT_EXEC, kOwn, -1);
  if (memory_ == 0) return false;
  if (means.shared_memory && !ShareBuffers()) return false;
  if (!is_shared_) {
    remote_buffers_ = Map(kBuffers * sizeof(Buffer), kData, kOwn, -1);
    if (remote_buffers_ == 0) return false;
  }
  if (buffers_ == nullptr) {
    void* const memory = mmap(nullptr, kBuffers * sizeof(Buffer), kData, kOwn, -1, 0);
    if (memory == MAP_FAILED) return false;
    buffers_ = static_cast<Buffer*>(memory);
  }
  const bool is_wide = means.wide_code && CanSearchWide();
  const uint8_t* const code = is_wide ? heapgauge_wide_search_code : heapgauge_search_code;
  const uint8_t* const end = is_wide ? heapgauge_wide_search_code_end : heapgauge_search_code_end;
  return Write(copy_, memory_, code, static_cast<size_t>(end - code));
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

SearchingCopy::Result SearchingCopy::Run(size_t buffer, size_t* count) {
  MachineRegisters r = registers_;
  const uint64_t first = memory_ + kRangesAt;
  const uint64_t remote_values = remote_buffers_ + buffer * sizeof(Buffer);
  const uint64_t remote_places = remote_values + offsetof(Buffer, places);
  r.rip = memory_;
  r.rdi = first + range_ * sizeof(AddressRange);
  r.rsi = first + ranges_ * sizeof(AddressRange);
  r.rdx = remote_values;
  r.rcx = remote_places;
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
  if (!is_shared_ && found != 0) {
    const size_t sizes[] = {found * sizeof(uint64_t), found * sizeof(uint32_t)};
    const iovec local[] = {{values(buffer), sizes[0]}, {places(buffer), sizes[1]}};
    const iovec remote[] = {Remote(remote_values, sizes[0]), Remote(remote_places, sizes[1])};
    const auto bytes = static_cast<ssize_t>(sizes[0] + sizes[1]);
    if (process_vm_readv(copy_, local, 2, remote, 2, 0) != bytes) return {};
  }
  *count = found;
  range_ = static_cast<size_t>((r.rdi - first) / sizeof(AddressRange));
  next_ = r.rbx;
  Stop stop = Stop::kUnreadable;
  if (signal == SIGTRAP) stop = range_ == ranges_ ? Stop::kDone : Stop::kFull;
  return {stop, range_, next_};
}

}  // namespace heapgauge::leaks
