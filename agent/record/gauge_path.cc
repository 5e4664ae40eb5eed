#include "agent/record/gauge_path.h"

#include <errno.h>

#include <cstddef>

#include "agent/sys/os.h"
#include "agent/sys/text.h"

namespace heapgauge::agent {
namespace {

using PathText = FixedText<1024>;

// Did this very process make the file, before it executed its present program?
bool IsOurOwn(const char* path) {
  wire::Header header;
  char* bytes = reinterpret_cast<char*>(&header);
  constexpr size_t kEnough = offsetof(wire::Header, start_realtime_ns);
  if (os::ReadWhole(path, bytes, kEnough + 1) < static_cast<long>(kEnough)) return false;
  const uint64_t ticks = os::ProcessStartTicks();
  return header.pid == os::ProcessId() && ticks != 0 && header.process_start_ticks == ticks;
}

int CreateAt(const char* path, GaugeFile* file) {
  const int result = file->Create(path);
  if (result != -EEXIST) return result;
  const bool move_old = IsOurOwn(path);
  for (uint64_t n = 1; n < 1000; ++n) {
    PathText numbered;
    numbered.Add(path).Add('.').Add(n);
    if (numbered.cut()) return -ENAMETOOLONG;
    if (!move_old) {
      const int created = file->Create(numbered.c_str());
      if (created != -EEXIST) return created;
    } else if (os::RenameToNew(path, numbered.c_str()) == 0) {
      return file->Create(path);
    }
  }
  return -EEXIST;
}

// Copies a path, made absolute: the program may change its directory before a child needs it.
template <size_t kBytes>
bool CopyPath(char (&field)[kBytes], const char* path) {
  FixedText<kBytes> text;
  if (path[0] != '/' && path[0] != '\0') {
    char current[kBytes];
    if (os::CurrentDirectory(current, sizeof current) <= 0) return false;
    text.Add(current).Add('/');
  }
  text.Add(path);
  return CopyText(field, text.c_str()) && !text.cut();
}

}  // namespace

void GaugePath::Remember(const Settings& settings, const char* exe) {
  usable_ = CopyPath(directory_, settings.directory);
  usable_ = CopyPath(runtime_directory_, settings.runtime_directory) && usable_;
  usable_ = CopyPath(out_file_, settings.out_file) && usable_;
  CopyText(name_, BaseName(exe));
  out_pid_ = settings.out_pid;
}

int GaugePath::CreateIn(const char* directory, GaugeFile* file, uint32_t pid) const {
  const int ready = os::EnsureDirectory(directory, os::EffectiveUserId());
  if (ready != 0) return ready;
  PathText path;
  path.Add(directory).Add('/').Add(name_).Add('.').Add(uint64_t{pid}).Add(".hg");
  return path.cut() ? -ENAMETOOLONG : CreateAt(path.c_str(), file);
}

int GaugePath::Create(GaugeFile* file, uint32_t pid) const {
  if (!usable_) return -ENAMETOOLONG;
  if (out_file_[0] != '\0') {
    PathText path;
    path.Add(out_file_);
    if (pid != out_pid_) path.Add('.').Add(uint64_t{pid});
    return path.cut() ? -ENAMETOOLONG : CreateAt(path.c_str(), file);
  }
  if (directory_[0] != '\0') return CreateIn(directory_, file, pid);
  int result = -ENOENT;
  if (runtime_directory_[0] == '/') {
    PathText path;
    path.Add(runtime_directory_).Add("/heapgauge");
    result = path.cut() ? -ENAMETOOLONG : CreateIn(path.c_str(), file, pid);
    if (result == 0) return 0;
  }
  for (const char* base : {"/dev/shm/heapgauge-", "/tmp/heapgauge-"}) {
    PathText path;
    path.Add(base).Add(uint64_t{os::EffectiveUserId()});
    result = CreateIn(path.c_str(), file, pid);
    if (result == 0) return 0;
  }
  return result;
}

}  // namespace heapgauge::agent
