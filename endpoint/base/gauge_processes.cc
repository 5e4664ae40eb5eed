#include "endpoint/base/gauge_processes.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/gauge/gauge_directory.h"

namespace heapgauge::endpoint {
namespace {

struct Found {
  GaugeOwner owner;
  bool runs = false;
  uint32_t pid = 0;  // here
};

// Running ones first, then the newest.
bool Before(const Found& a, const Found& b) {
  return std::tuple(!a.runs, ~a.owner.start_realtime_ns, a.owner.path) <
         std::tuple(!b.runs, ~b.owner.start_realtime_ns, b.owner.path);
}

}  // namespace

GaugeProcesses::GaugeProcesses(Choice choice, GaugeProcessOptions options)
    : choice_(std::move(choice)), options_(std::move(options)) {}

uint32_t GaugeProcesses::LastNumberOf(const GaugeOwner& owner) {
  const std::lock_guard lock(mutex_);
  const auto known = known_.find(owner.path);
  const bool same = known != known_.end() && known->second.start_ns == owner.start_realtime_ns;
  return same ? known->second.process->pid() : owner.pid;
}

std::vector<std::shared_ptr<GaugeProcess>> GaugeProcesses::Look() {
  std::vector<Found> found;
  const auto add = [&](const std::string& path, bool take_copies) {
    auto owner = ReadOwner(path);
    if (!owner || (owner->is_copy && !take_copies)) return;
    const uint32_t running_as = RunningAs(*owner);
    const uint32_t pid = running_as != 0 ? running_as : LastNumberOf(*owner);
    found.push_back({*std::move(owner), running_as != 0, pid});
  };
  const bool by_pid = !choice_.pids.empty();
  const bool everywhere = choice_.directories.empty() && (by_pid || choice_.files.empty());
  for (const std::string& directory : everywhere ? GaugeDirectories() : choice_.directories) {
    const auto paths = ListGaugeFiles(directory);
    if (!paths) continue;
    for (const std::string& path : *paths) add(path, false);
  }
  if (by_pid) {
    std::erase_if(found, [&](const Found& one) {
      return std::find(choice_.pids.begin(), choice_.pids.end(), one.pid) == choice_.pids.end();
    });
    // Files elsewhere, which only their processes know.
    for (const uint32_t pid : choice_.pids) {
      const bool seen = std::any_of(found.begin(), found.end(),
                                    [&](const Found& one) { return one.runs && one.pid == pid; });
      const auto path = seen ? Result<std::string>("") : FindGaugeOf(pid);
      if (path && !path->empty()) add(*path, false);
    }
  }
  for (const std::string& path : choice_.files) add(path, true);
  std::sort(found.begin(), found.end(), Before);

  // One file for each number: that of the program that runs, else the newest.
  const std::lock_guard lock(mutex_);
  std::map<std::string, Known> known;
  std::vector<std::shared_ptr<GaugeProcess>> processes;
  for (const Found& one : found) {
    const bool seen = std::any_of(processes.begin(), processes.end(),
                                  [&](const auto& process) { return process->pid() == one.pid; });
    if (seen) continue;
    const auto before = known_.find(one.owner.path);
    const bool same = before != known_.end() &&
                      before->second.start_ns == one.owner.start_realtime_ns &&
                      before->second.process->pid() == one.pid;
    Known entry = same ? before->second
                       : Known{std::make_shared<GaugeProcess>(one.owner.path, options_),
                               one.owner.start_realtime_ns};
    processes.push_back(entry.process);
    known.emplace(one.owner.path, std::move(entry));
  }
  known_ = std::move(known);
  return processes;
}

std::vector<std::shared_ptr<Process>> GaugeProcesses::List() {
  const auto processes = Look();
  return {processes.begin(), processes.end()};
}

std::shared_ptr<Process> GaugeProcesses::Find(uint32_t pid) {
  for (const auto& process : Look()) {
    if (process->pid() == pid) return process;
  }
  return nullptr;
}

}  // namespace heapgauge::endpoint
