#include "agent/record/dumper.h"

#include <errno.h>

#include <cstring>

#include "agent/sys/os.h"
#include "agent/table/gauge_file.h"

namespace heapgauge::agent {
namespace {

using wire::DumpReason;

constexpr int kStandardError = 2;
constexpr uint32_t kMostNumbers = 10'000;  // tried for one that is free

// "100 MB", "1.2 GB", as the readers write it.
template <size_t kBytes>
void AddSize(uint64_t bytes, FixedText<kBytes>* text) {
  static const char* const kUnits[] = {" B", " kB", " MB", " GB", " TB", " PB", " EB"};
  size_t unit = 0;
  uint64_t scale = 1;
  while (bytes / scale >= 1000 && unit + 1 < sizeof kUnits / sizeof *kUnits) {
    scale *= 1024;
    ++unit;
  }
  const uint64_t whole = bytes / scale;
  text->Add(whole);
  if (unit > 0 && whole < 100) {
    text->Add('.').Add(static_cast<char>('0' + (bytes % scale) / ((scale + 9) / 10)));
  }
  text->Add(kUnits[unit]);
}

const char* ErrorText(int error) {
  switch (error) {
    case ENOSPC:
      return "no space left";
    case EDQUOT:
      return "quota exceeded";
    case ENOENT:
      return "there is no such directory";
    case ENOTDIR:
      return "its directory is not one";
    case EACCES:
    case EPERM:
      return "permission denied";
    case EROFS:
      return "read-only file system";
    case EFBIG:
      return "larger than files may be (RLIMIT_FSIZE)";
    case EEXIST:
      return "no free number for its name";
    case EMFILE:
    case ENFILE:
      return "too many open files";
    case ENAMETOOLONG:
      return "its name is too long";
    default:
      return "input/output error";
  }
}

}  // namespace

void Dumper::Start(const DumpSettings& settings, const char* exe, const char* gauge_path,
                   uint64_t start_ns) {
  verbose_ = settings.verbose;
  start_ns_ = start_ns;
  if (verbose_ && !os::FileIdentity(kStandardError, &error_device_, &error_inode_)) {
    verbose_ = false;
  }
  if (verbose_ && settings.ignored[0] != '\0') {
    const os::SignalsBlocked quiet;
    line_.Add("heapgauge: ignored, not understood: ").Add(settings.ignored).Add('\n');
    if (!line_.cut()) Say(line_.c_str(), line_.length());
  }
  at_exit_ = settings.at_exit;
  keep_ = settings.keep;
  pid_ = os::ProcessId();
  armed_ = settings.any() && names_.Remember(settings, exe, gauge_path);
  policy_.Start(settings, {start_ns, 0, 0, 0});
}

void Dumper::StartInChild(uint64_t live_bytes, uint64_t now_ns) {
  file_.CloseInherited();
  lock_.Unlock();
  pid_ = os::ProcessId();
  sequence_ = failures_ = last_error_ = kept_count_ = 0;
  failure_told_ = false;
  allocated_.store(0);
  memory_.Forget();
  policy_.StartAnew(Figures(live_bytes, now_ns));
}

void Dumper::ForgetLive() {
  large_.store(0);
  if (!lock_.LockSoon()) return;
  policy_.ForgetLive();
  lock_.Unlock();
}

void Dumper::WaitForEnd() const {
  for (int i = 0; i < 100 && lock_.locked(); ++i) os::Nap(1'000'000);
}

bool Dumper::Lock(DumpFile::Turn* turn) {
  if (!lock_.Lock()) return false;
  *turn = {&turn_, turn_.fetch_add(1) + 1};
  return true;
}

void Dumper::Unlock(const DumpFile::Turn& turn) {
  if (!turn.over()) lock_.Unlock();
}

void Dumper::ConsiderSlowly(GaugeFile* file, const DumpFigures& figures, uint64_t request) {
  DumpFile::Turn turn;
  if (SyscallsFrozen()) return;
  if (!Lock(&turn)) {
    // Whoever is at it may have a profile half written that this thread's memory would cost.
    if (!policy_.Urgent(figures) && request == 0) return;
    WaitForEnd();
    if (!Lock(&turn)) return;
  }
  if (os::OffAlternateStack()) {
    const os::SignalsBlocked quiet;
    MemoryFigures memory;
    const bool look = request != 0 || policy_.WantsMemory(figures);
    if (look) memory = memory_.Look(figures.now_ns);
    const DumpReason reason = policy_.Decide(figures, look ? &memory : nullptr, request);
    if (reason != DumpReason::kNone) Dump(file, reason, figures, turn);
  }
  Unlock(turn);
}

void Dumper::Request(GaugeFile* file, uint64_t live_bytes, uint64_t now_ns, uint64_t size) {
  if (size != 0) ConsiderSlowly(file, Figures(live_bytes, now_ns), size);
}

void Dumper::AtExit(GaugeFile* file, uint64_t live_bytes, uint64_t now_ns) {
  if (!at_exit_ || SyscallsFrozen()) return;
  WaitForEnd();
  DumpFile::Turn turn;
  if (!Lock(&turn)) return;
  {
    const os::SignalsBlocked quiet;
    Dump(file, DumpReason::kExit, Figures(live_bytes, now_ns), turn);
  }
  Unlock(turn);
}

void Dumper::Dump(GaugeFile* file, DumpReason reason, const DumpFigures& figures,
                  const DumpFile::Turn& turn) {
  wire::ProcessMemory memory{};
  memory_.Describe(figures.now_ns, &memory);
  memory.time_ns = figures.now_ns - start_ns_;
  memory.state = 2;
  wire::Header& header = *file->header();
  WriteSequenced(header.memory, [&](wire::ProcessMemory& out) {
    const uint64_t state = out.state;
    out = memory;
    out.state = state;
  });
  wire::DumpInfo info{sequence_ + 1, static_cast<uint32_t>(reason), memory.time_ns, failures_,
                      last_error_};
  int result = 0;
  for (uint32_t place = 0; place < names_.places(); ++place) {
    result = DumpTo(place, *file, &info, memory, turn);
    if (turn.over()) return;
    if (result != 0) continue;
    sequence_ = info.sequence;
    SayDumped(figures.live_bytes);
    Keep(info, place);
    break;
  }
  if (result != 0) {
    ++failures_;
    last_error_ = static_cast<uint32_t>(-result);
    Put(header.dump.failures, failures_);
    Put(header.dump.last_error, last_error_);
    SayFailed(-result);
    return;
  }
  Put(header.dump.sequence, info.sequence);
  Put(header.dump.reason, info.reason);
  Put(header.dump.time_ns, info.time_ns);
}

// Leaves the name in path_. 0 or -errno.
int Dumper::DumpTo(uint32_t place, const GaugeFile& file, wire::DumpInfo* info,
                   const wire::ProcessMemory& memory, const DumpFile::Turn& turn) {
  const auto reason = static_cast<DumpReason>(info->reason);
  const uint32_t first = info->sequence;
  names_.Temporary(place, pid_, &temporary_);
  const auto find_free = [&] {
    for (; info->sequence - first < kMostNumbers; ++info->sequence) {
      names_.Final(place, pid_, info->sequence, reason, &path_);
      if (!os::Exists(path_.c_str())) return true;
    }
    return false;
  };
  if (!find_free()) return -EEXIST;
  if (path_.cut() || temporary_.cut()) return -ENAMETOOLONG;
  int fd = -1;
  int result = file_.Write(file, temporary_.c_str(), *info, memory, turn, &fd);
  if (result == -EEXIST) {
    // An earlier program of this process was killed in the middle, or had this number.
    os::Unlink(temporary_.c_str());
    result = file_.Write(file, temporary_.c_str(), *info, memory, turn, &fd);
  }
  if (result != 0) return result;
  while (true) {
    if (turn.over()) {  // the file of this name is another thread's by now
      os::Close(fd);
      return -ESTALE;
    }
    result = os::RenameToNew(temporary_.c_str(), path_.c_str());
    if (result != -EEXIST) break;
    // Another process was faster.
    if (!find_free()) break;
    result = DumpFile::Describe(fd, *info);
    if (result != 0) break;
  }
  os::Close(fd);
  if (result != 0) os::Unlink(temporary_.c_str());
  return result;
}

// Remembers the dump and removes one if there are too many: the oldest, but those near a limit
// last.
void Dumper::Keep(const wire::DumpInfo& info, uint32_t place) {
  if (keep_ == 0) return;
  kept_[kept_count_++] = {info.sequence, static_cast<uint16_t>(info.reason),
                          static_cast<uint16_t>(place)};
  if (kept_count_ <= keep_) return;
  const auto near_limit = static_cast<uint16_t>(DumpReason::kLimit);
  uint32_t victim = 0;
  while (victim + 1 < kept_count_ && kept_[victim].reason == near_limit) ++victim;
  if (victim + 1 == kept_count_) victim = 0;  // never the one that was just made
  const Kept& old = kept_[victim];
  names_.Final(old.place, pid_, old.sequence, static_cast<DumpReason>(old.reason), &path_);
  os::Unlink(path_.c_str());
  --kept_count_;
  memmove(&kept_[victim], &kept_[victim + 1], (kept_count_ - victim) * sizeof kept_[0]);
}

// The program may have closed standard error and got the number again for something else.
void Dumper::Say(const char* text, size_t bytes) const {
  uint64_t device, inode;
  if (!os::FileIdentity(kStandardError, &device, &inode)) return;
  if (device == error_device_ && inode == error_inode_) os::WriteLine(kStandardError, text, bytes);
}

void Dumper::SayDumped(uint64_t live_bytes) {
  if (!verbose_) return;
  line_.Clear();
  line_.Add("Dumping heap profile to ").Add(path_.c_str()).Add(" (");
  AddSize(live_bytes, &line_);
  line_.Add(" currently in use)\n");
  Say(line_.c_str(), line_.length());
}

void Dumper::SayFailed(int error) {
  if (!verbose_ || failure_told_) return;
  failure_told_ = true;
  line_.Clear();
  line_.Add("heapgauge: cannot write heap profile ").Add(path_.c_str()).Add(": ");
  line_.Add(ErrorText(error)).Add(" (error ").Add(static_cast<uint64_t>(error));
  line_.Add("); the program goes on, and this is said once\n");
  Say(line_.c_str(), line_.length());
}

}  // namespace heapgauge::agent
