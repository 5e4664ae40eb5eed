#include "agent/table/gauge_path.h"

#include <errno.h>

#include "agent/sys/os.h"
#include "agent/sys/text.h"

namespace heapgauge::agent {
namespace {

using PathText = FixedText<1024>;

int CreateAt(const char* path, GaugeFile* file) {
  int result = file->Create(path);
  for (uint32_t n = 1; result == -EEXIST && n < 100; ++n) {
    PathText kept;
    kept.Add(path).Add('.').Add(uint64_t{n});
    const int fd = os::OpenFile(kept.c_str());
    if (fd >= 0) os::Close(fd);
    if (fd >= 0 || fd == -EACCES) continue;  // that name is taken too
    if (os::Rename(path, kept.c_str()) < 0) return -EEXIST;
    result = file->Create(path);
  }
  return result;
}

}  // namespace

void GaugePath::Remember(const Settings& settings, const char* exe) {
  CopyText(directory_, settings.directory);
  CopyText(runtime_directory_, settings.runtime_directory);
  CopyText(out_file_, settings.out_file);
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
