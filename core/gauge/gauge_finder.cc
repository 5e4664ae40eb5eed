#include "core/gauge/gauge_finder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "core/os/process.h"

namespace heapgauge::trace {
namespace {

// A file may have been made in the tick of the clock in which we were.
constexpr uint64_t kStartSlackNs = 1'000'000'000;
constexpr uint64_t kTickNs = 50'000'000;
constexpr uint64_t kListPeriodNs = 500'000'000;

uint64_t Nanoseconds(const timespec& time) {
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

}  // namespace

GaugeFinder::GaugeFinder(std::string directory)
    : directory_(std::move(directory)),
      recorder_(static_cast<uint32_t>(getpid())),
      started_ns_(RealtimeNow() - kStartSlackNs) {}

bool GaugeFinder::HasChanged(const std::string& directory) {
  struct stat st {};
  if (stat(directory.c_str(), &st) != 0) return false;
  const uint64_t changed = Nanoseconds(st.st_mtim);
  uint64_t& known = times_[directory];
  if (changed == known) return false;
  // The time of a directory is coarse: a further file may come without a change of it.
  if (RealtimeNow() > changed + kTickNs) known = changed;
  return true;
}

bool GaugeFinder::IsOurs(const GaugeOwner& owner, uint32_t program) {
  if (owner.start_realtime_ns < started_ns_ || owner.is_copy) return false;
  if (owner.recorder_pid != 0) {
    if (owner.recorder_pid != recorder_) return false;
  } else if (pids_.count(owner.pid) == 0 && pids_.count(owner.parent_pid) == 0 &&
             !IsDescendant(owner.pid, program)) {
    return false;
  }
  pids_.insert(owner.pid);
  found_any_ = true;
  return true;
}

std::vector<GaugeOwner> GaugeFinder::FindNew(uint32_t program) {
  pids_.insert(program);
  std::vector<GaugeOwner> found;
  const uint64_t now = MonotonicNow();
  if (now >= next_list_ns_) {
    directories_ = directory_.empty() ? GaugeDirectories() : std::vector<std::string>{directory_};
    // Soon at first: the agent makes the one it chooses.
    next_list_ns_ = now + (found_any_ ? kListPeriodNs : 0);
  }
  bool unfinished = false;
  for (const std::string& directory : directories_) {
    if (!HasChanged(directory) && !look_again_) continue;
    const auto files = ListGaugeFiles(directory);
    if (!files) continue;
    const std::map<FileId, Whose> before = std::move(seen_[directory]);
    std::map<FileId, Whose>& seen = seen_[directory];
    seen.clear();
    for (const std::string& path : *files) {
      struct stat st {};
      // What others left behind, which may be much, need not be opened.
      if (stat(path.c_str(), &st) != 0 || Nanoseconds(st.st_mtim) < started_ns_) continue;
      const FileId id(st.st_dev, st.st_ino);
      auto owner = ReadOwner(path);
      if (owner) {
        // The inode of one that was removed may be that of another already.
        const Whose whose(*owner);
        const auto known = before.find(id);
        const bool is_known = known != before.end() && known->second == whose;
        seen.insert_or_assign(id, whose);
        if (!is_known && IsOurs(*owner, program)) found.push_back(*std::move(owner));
      } else {
        unfinished = true;  // its program is just making it
      }
    }
  }
  look_again_ = unfinished;
  std::sort(found.begin(), found.end(), [](const GaugeOwner& a, const GaugeOwner& b) {
    return a.start_realtime_ns < b.start_realtime_ns;
  });
  return found;
}

void RemoveGauge(int fd, const std::string& path) {
  struct stat ours {};
  if (fstat(fd, &ours) != 0) return;
  const auto remove_if_ours = [&](const std::string& name) {
    struct stat st {};
    if (lstat(name.c_str(), &st) != 0 || st.st_ino != ours.st_ino || st.st_dev != ours.st_dev) {
      return false;
    }
    return unlink(name.c_str()) == 0;
  };
  if (remove_if_ours(path)) return;
  const auto files = ListGaugeFiles(path.substr(0, path.rfind('/')));
  if (files) std::any_of(files->begin(), files->end(), remove_if_ours);
}

}  // namespace heapgauge::trace
