#include "cli/run_processes.h"

#include <algorithm>
#include <tuple>

#include "core/gauge/gauge_directory.h"

namespace heapgauge::cli {
namespace {

struct Candidate {
  GaugeOwner owner;
  bool runs = false;
};

}  // namespace

std::vector<std::shared_ptr<endpoint::Process>> RunProcesses::List() {
  if (program_ == 0) return {};
  std::vector<Candidate> found;
  for (const std::string& path : watch_->Files(program_)) {
    auto owner = ReadOwner(path);
    if (!owner) continue;
    const bool runs = OwnerRuns(*owner) && !WasReplaced(*owner);
    found.push_back({*std::move(owner), runs});
  }
  // Running ones first, then the newest; of a process that executed others, its last program.
  std::sort(found.begin(), found.end(), [](const Candidate& a, const Candidate& b) {
    return std::tuple(!a.runs, ~a.owner.start_realtime_ns, a.owner.path) <
           std::tuple(!b.runs, ~b.owner.start_realtime_ns, b.owner.path);
  });
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<std::shared_ptr<endpoint::Process>> processes;
  for (const Candidate& one : found) {
    const bool seen = std::any_of(processes.begin(), processes.end(), [&](const auto& process) {
      return process->pid() == one.owner.pid;
    });
    if (seen) continue;
    auto& known = known_[one.owner.path];
    if (known == nullptr || known->pid() != one.owner.pid) {
      known = std::make_shared<endpoint::GaugeProcess>(one.owner.path, options_);
    }
    processes.push_back(known);
  }
  return processes;
}

std::shared_ptr<endpoint::Process> RunProcesses::Find(uint32_t pid) {
  for (const auto& process : List()) {
    if (process->pid() == pid) return process;
  }
  return nullptr;
}

}  // namespace heapgauge::cli
