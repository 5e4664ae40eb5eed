#include "cli/dump_watch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "cli/tell_user.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/gauge/gauge_summary.h"
#include "core/os/process.h"
#include "core/os/process_memory.h"
#include "core/os/process_status.h"

namespace heapgauge::cli {
namespace {

constexpr uint64_t kAgentsTurnNs = kSecondNs / 10;
// As the agent has them: the share that was asked for, then these parts of the way to the top.
constexpr double kLevels[] = {0, 0.5, 0.75, 0.9};
constexpr double kRearm = 0.05;

// Has the agent dumped for a limit since `since_ns` (CLOCK_MONOTONIC)?
bool AgentDumped(const std::string& path, uint64_t since_ns) {
  const auto file = File::OpenForReading(path);
  wire::Header header{};
  if (!file || file->ReadAt(0, &header, sizeof header) != sizeof header) return false;
  return header.dump.reason == static_cast<uint32_t>(wire::DumpReason::kLimit) &&
         header.start_monotonic_ns + header.dump.time_ns >= since_ns;
}

}  // namespace

bool DumpWatch::NearLimit(const std::string& path, uint32_t pid, uint64_t now_ns,
                          Watched* file) const {
  static const uint64_t machine_bytes = ReadHostMemory().total;
  const auto memory = ReadProcessMemory(pid);
  if (!memory) return false;
  const double share = ShareOfLimit(*memory, machine_bytes);
  const double first = options_.percent / 100.0;
  uint32_t reached = 0;
  for (const double level : kLevels) reached += share >= first + (1 - first) * level ? 1 : 0;
  if (share < first - kRearm) file->level = 0;
  if (reached <= file->level) {
    file->passed_ns = 0;
    return false;
  }
  if (file->passed_ns == 0) file->passed_ns = now_ns;
  if (now_ns - file->passed_ns < kAgentsTurnNs) return false;
  // The agent may have seen it a little before us.
  const bool done = AgentDumped(path, file->passed_ns - kSecondNs / 2);
  file->level = reached;
  file->passed_ns = 0;
  return !done;
}

void DumpWatch::Look(const GaugeOwner& owner, uint32_t pid, uint64_t now_ns) {
  Watched& file = files_[owner.path];
  if (options_.seconds != 0) {
    const uint64_t period = options_.seconds * kSecondNs;
    if (file.next_ns == 0) file.next_ns = now_ns + period;
    if (now_ns >= file.next_ns) {
      file.next_ns += period * ((now_ns - file.next_ns) / period + 1);
      Dump(owner, wire::DumpReason::kTime, &file);
    }
  }
  if (options_.percent != 0 && NearLimit(owner.path, pid, now_ns, &file)) {
    Dump(owner, wire::DumpReason::kLimit, &file);
  }
}

void DumpWatch::Dump(const GaugeOwner& owner, wire::DumpReason reason, Watched* file) {
  if (WasReplaced(owner)) return;
  const auto dumped = DumpGaugeTo(owner.path, options_.place, reason);
  if (!dumped) {
    if (!failure_told_) TellUser("heapgauge: no dump: {}\n", dumped.error().message);
    failure_told_ = true;
    return;
  }
  if (options_.verbose) {
    const auto summary = ReadGaugeSummary(*dumped);
    TellUser("Dumping heap profile to {} ({} currently in use)\n", Printable(*dumped),
             FormatBytes(summary ? summary->live_bytes.value : 0));
  }
  file->kept.push_back(*dumped);
  if (options_.keep == 0 || file->kept.size() <= options_.keep) return;
  unlink(file->kept.front().c_str());
  file->kept.pop_front();
}

}  // namespace heapgauge::cli
