#include "cli/gauge_watch.h"

#include <dirent.h>

#include "core/gauge/gauge_directory.h"
#include "core/os/process.h"
#include "core/os/process_memory.h"

namespace heapgauge::cli {
namespace {

// Clocks of file and watcher are the same one, but a file may have been made in the same tick.
constexpr uint64_t kSlackNs = 1'000'000'000;
constexpr uint64_t kTickSlackNs = 5'000'000;

}  // namespace

GaugeWatch::GaugeWatch(std::string output, std::string directory, DumpWatch dumps)
    : output_(std::move(output)),
      directory_(std::move(directory)),
      dumps_(std::move(dumps)),
      started_ns_(RealtimeNow() - kSlackNs) {}

std::vector<std::string> GaugeWatch::Candidates() const {
  std::vector<std::string> paths;
  if (!output_.empty()) {
    // The file itself, and FILE.<pid> of other processes.
    const size_t slash = output_.rfind('/');
    const std::string directory = output_.substr(0, slash + 1);
    const std::string name = output_.substr(slash + 1);
    DIR* dir = opendir(directory.c_str());
    if (dir == nullptr) return paths;
    while (const dirent* entry = readdir(dir)) {
      const std::string_view other = entry->d_name;
      if (other.substr(0, name.size()) != name) continue;
      const std::string_view rest = other.substr(name.size());
      const bool is_number = rest.size() > 1 && rest[0] == '.' &&
                             rest.find_first_not_of("0123456789.", 1) == std::string_view::npos;
      if (rest.empty() || is_number) paths.push_back(directory + std::string(other));
    }
    closedir(dir);
    return paths;
  }
  const std::vector<std::string> directories =
      directory_.empty() ? GaugeDirectories() : std::vector<std::string>{directory_};
  for (const std::string& directory : directories) {
    if (const auto files = ListGaugeFiles(directory)) {
      paths.insert(paths.end(), files->begin(), files->end());
    }
  }
  return paths;
}

bool GaugeWatch::LookForFiles(pid_t program) {
  bool any = false;
  pids_.insert(static_cast<uint32_t>(program));
  for (const std::string& path : Candidates()) {
    if (foreign_.count(path) != 0) continue;
    const auto known = ours_.find(path);
    if (known != ours_.end() && known->second.ticker.IsAt(path)) continue;
    if (known != ours_.end()) ours_.erase(known);  // it was moved, and is found by its new name
    const auto owner = ReadOwner(path);
    if (!owner) continue;  // perhaps not finished yet
    if (owner->start_realtime_ns < started_ns_ || owner->is_copy) {
      foreign_.insert(path);
      continue;
    }
    // A child that has ended is known by its parent only. One whose parent made no file in time is
    // missed.
    const bool mine = pids_.count(owner->pid) != 0 || pids_.count(owner->parent_pid) != 0 ||
                      IsDescendant(owner->pid, static_cast<uint32_t>(program));
    if (!mine) continue;
    auto ticker = GaugeTicker::Open(path);
    if (!ticker) continue;
    pids_.insert(owner->pid);
    ours_.emplace(path, Watched{std::move(*ticker)});
    any = true;
  }
  return any;
}

void GaugeWatch::NoticeExec(bool new_files) {
  for (auto& [path, file] : ours_) {
    if (file.replaced) continue;
    std::string executable = ProcessExecutable(file.ticker.pid());
    if (!new_files && executable == file.executable) continue;
    file.executable = std::move(executable);
    const auto owner = ReadOwner(path);
    file.replaced = owner && WasReplaced(*owner);
  }
}

void GaugeWatch::Tick(pid_t program) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const uint64_t now = MonotonicNow();
  const bool tick = now >= next_tick_ns_;
  if (tick || ours_.empty()) NoticeExec(LookForFiles(program));
  for (auto& [path, file] : ours_) {
    if (!dumps_.wanted()) break;
    const auto owner = ReadOwner(path);
    if (!file.replaced && owner && OwnerRuns(*owner)) dumps_.Look(*owner, file.ticker.pid(), now);
  }
  if (!tick) return;
  next_tick_ns_ = now + wire::kTickNs - kTickSlackNs;
  for (auto& [path, file] : ours_) {
    if (file.replaced) continue;
    GaugeTicker& ticker = file.ticker;
    const auto resident = ResidentBytes(ticker.pid());
    // A file that was cut or cannot be written any more is the agent's concern, not the program's.
    if (!resident || *resident == 0) continue;
    static_cast<void>(ticker.Tick(*resident, MonotonicNow()));
    if (const auto memory = ReadProcessMemory(ticker.pid())) {
      static_cast<void>(ticker.WriteMemory(*memory, MonotonicNow()));
    }
  }
}

std::vector<std::string> GaugeWatch::Files(pid_t program) {
  const std::lock_guard<std::mutex> lock(mutex_);
  LookForFiles(program);
  std::vector<std::string> paths;
  for (const auto& [path, file] : ours_) paths.push_back(path);
  return paths;
}

std::string GaugeWatch::FileOf(pid_t program, size_t* others) {
  const std::lock_guard<std::mutex> lock(mutex_);
  LookForFiles(program);
  std::string newest;
  uint64_t newest_start = 0;
  for (const auto& [path, file] : ours_) {
    if (file.ticker.pid() != static_cast<uint32_t>(program)) continue;
    const auto owner = ReadOwner(path);
    if (!owner || owner->start_realtime_ns < newest_start) continue;
    newest = path;
    newest_start = owner->start_realtime_ns;
  }
  *others = ours_.size() - (newest.empty() ? 0 : 1);
  return newest;
}

}  // namespace heapgauge::cli
