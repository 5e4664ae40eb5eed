#include "core/trace/record/gauge_finder.h"

#include <sys/stat.h>

#include <algorithm>

#include "core/base/process.h"

namespace heapgauge::trace {
namespace {

// A file may have been made in the tick of the clock in which we were.
constexpr uint64_t kStartSlackNs = 1'000'000'000;
constexpr uint64_t kTickNs = 50'000'000;

}  // namespace

GaugeFinder::GaugeFinder(std::string directory)
    : directory_(std::move(directory)), started_ns_(RealtimeNow() - kStartSlackNs) {}

bool GaugeFinder::HasChanged(const std::string& directory) {
  struct stat st {};
  if (stat(directory.c_str(), &st) != 0) return false;
  const uint64_t changed = static_cast<uint64_t>(st.st_mtim.tv_sec) * 1'000'000'000 +
                           static_cast<uint64_t>(st.st_mtim.tv_nsec);
  uint64_t& known = times_[directory];
  if (changed == known) return false;
  // The time of a directory is coarse: a further file may come without a change of it.
  if (RealtimeNow() > changed + kTickNs) known = changed;
  return true;
}

std::vector<GaugeOwner> GaugeFinder::FindNew(uint32_t program) {
  pids_.insert(program);
  std::vector<GaugeOwner> found;
  const std::vector<std::string> directories =
      directory_.empty() ? GaugeDirectories() : std::vector<std::string>{directory_};
  bool unfinished = false;
  for (const std::string& directory : directories) {
    if (!HasChanged(directory) && !look_again_) continue;
    const auto files = ListGaugeFiles(directory);
    if (!files) continue;
    for (const std::string& path : *files) {
      if (seen_.count(path) != 0) continue;
      auto owner = ReadOwner(path);
      if (!owner) {
        // Those that a program never finished long ago are not looked at for ever.
        struct stat st {};
        const bool recent =
            stat(path.c_str(), &st) == 0 &&
            static_cast<uint64_t>(st.st_mtim.tv_sec) * 1'000'000'000 + kStartSlackNs >= started_ns_;
        if (recent) unfinished = true;
        continue;
      }
      const bool old = owner->start_realtime_ns < started_ns_ || owner->is_copy;
      const bool mine =
          !old && (pids_.count(owner->pid) != 0 || pids_.count(owner->parent_pid) != 0 ||
                   IsDescendant(owner->pid, program));
      seen_.insert(path);
      if (!mine) continue;
      pids_.insert(owner->pid);
      found.push_back(*std::move(owner));
    }
  }
  look_again_ = unfinished;
  std::sort(found.begin(), found.end(), [](const GaugeOwner& a, const GaugeOwner& b) {
    return a.start_realtime_ns < b.start_realtime_ns;
  });
  return found;
}

}  // namespace heapgauge::trace
