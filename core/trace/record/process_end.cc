#include "core/trace/record/process_end.h"

#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string>

#include "core/os/proc_fields.h"
#include "core/os/process.h"

namespace heapgauge::trace {
namespace {

// Of linux/pidfd.h, which is older than this where we build.
struct PidfdInfo {
  uint64_t mask;
  uint64_t cgroup;
  uint32_t numbers[11];
  int32_t exit_code;
};
static_assert(sizeof(PidfdInfo) == 64);
constexpr uint64_t kExitInfo = 1 << 3;
constexpr unsigned long kGetInfo = _IOWR(0xff, 11, PidfdInfo);

std::optional<int> ToldByKernel(int fd) {
  PidfdInfo info{};
  info.mask = kExitInfo;
  if (fd < 0 || ioctl(fd, kGetInfo, &info) != 0 || (info.mask & kExitInfo) == 0) return {};
  return info.exit_code;
}

// Of one that nobody has waited for yet.
std::optional<int> ToldByZombie(const OwnerProcess& process) {
  constexpr int kExitCode = 52;
  const std::string directory = ProcessDirectory(process.pid);
  const auto now = ReadProcess(process.pid);
  if (!now || !now->ended() || now->start_ticks != process.start_ticks) return {};
  const int64_t code = StatField(ReadStat(directory), kExitCode);
  if (code < 0 || code > UINT16_MAX) return {};
  // It is also 0 to those who may not know.
  const std::string self = std::to_string(geteuid());
  const bool may_know =
      code != 0 || geteuid() == 0 ||
      StatusField(ReadStatus(directory), "Uid") == self + "\t" + self + "\t" + self + "\t" + self;
  return may_know ? std::optional(static_cast<int>(code)) : std::nullopt;
}

}  // namespace

ProcessEnd::ProcessEnd(const OwnerProcess& process) : process_(process) {
  if (process.pid == 0 || process.start_ticks == 0) return;
  fd_ = static_cast<int>(syscall(SYS_pidfd_open, process.pid, 0));
  // Not that of another one that has the number by now.
  if (fd_ < 0 || !IsGone(process)) return;
  close(fd_);
  fd_ = -1;
}

ProcessEnd::~ProcessEnd() {
  if (fd_ >= 0) close(fd_);
}

std::optional<int> ProcessEnd::wait_status() const {
  if (process_.pid == 0) return {};
  // Its parent may wait for it in between.
  if (const auto status = ToldByKernel(fd_)) return status;
  if (const auto status = ToldByZombie(process_)) return status;
  return ToldByKernel(fd_);
}

}  // namespace heapgauge::trace
