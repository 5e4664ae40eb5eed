#include "core/gauge/owner_process.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "core/base/file.h"
#include "core/base/text.h"
#include "core/os/proc_fields.h"
#include "core/os/process.h"

namespace heapgauge {
namespace {

// The owner among processes that are in another namespace than the numbers of /proc. `unclear` is
// set if one of them may be it.
OwnerProcess FindAmong(const std::vector<uint32_t>& processes, const GaugeOwner& owner,
                       bool* unclear) {
  OwnerProcess likely;  // it may have executed another program since
  bool only_one = true;
  for (const uint32_t pid : processes) {
    if (InnermostPidOf("/proc/" + std::to_string(pid)) != owner.pid) continue;
    const auto process = ReadProcess(pid);
    if (!process || process->ended()) continue;
    const auto maps = ProcessMapsFile(pid, owner.path);
    if (maps == std::optional(true)) return {pid, process->start_ticks};
    if (owner.process_start_ticks == 0) {
      if (!maps) *unclear = true;
      continue;
    }
    if (process->start_ticks != owner.process_start_ticks) continue;
    const uint64_t its_namespace = owner.pid_namespace != 0 ? PidNamespaceOf(pid) : 0;
    if (its_namespace != 0 && its_namespace != owner.pid_namespace) continue;
    only_one = likely.pid == 0;
    likely = {pid, process->start_ticks};
  }
  if (only_one) return likely;
  *unclear = true;
  return {};
}

// Processes of other namespaces than that of /proc. They are listed anew for a file that was made
// after the last time, as its process may not have been there; many files of old are looked up in
// one list.
std::vector<uint32_t> ProcessesElsewhere(const GaugeOwner& owner) {
  constexpr uint64_t kKeptNs = 200'000'000;
  static std::mutex mutex;
  static std::vector<uint32_t> list;
  static uint64_t listed_ns = 0;
  static uint64_t listed_realtime_ns = 0;
  const std::lock_guard lock(mutex);
  struct stat st {};
  const uint64_t changed = stat(owner.path.c_str(), &st) == 0
                               ? static_cast<uint64_t>(st.st_ctim.tv_sec + 1) * kSecondNs
                               : UINT64_MAX;
  const uint64_t now = MonotonicNow();
  if (listed_ns != 0 && now - listed_ns < kKeptNs && changed < listed_realtime_ns) return list;
  listed_ns = now;
  listed_realtime_ns = RealtimeNow();
  list.clear();
  for (const uint32_t pid : ProcessesSince(0)) {
    const uint32_t own = InnermostPidOf("/proc/" + std::to_string(pid));
    if (own != 0 && own != pid) list.push_back(pid);
  }
  return list;
}

}  // namespace

OwnerProcess FindOwnerProcess(const GaugeOwner& owner, bool may_wait) {
  const auto named = ReadProcess(owner.pid);
  if (named && owner.process_start_ticks != 0 && named->start_ticks == owner.process_start_ticks) {
    return {owner.pid, named->start_ticks};
  }
  // Some cannot read when they began.
  const bool by_number = named && owner.process_start_ticks == 0;
  const auto maps = by_number ? ProcessMapsFile(owner.pid, owner.path) : std::optional(false);
  if (maps == std::optional(true)) return {owner.pid, named->start_ticks};
  const auto self = static_cast<uint32_t>(getpid());
  // Mostly this: a short one, that is gone. Numbers in a namespace are small.
  if (owner.ended_ns != 0 && !may_wait && owner.pid > self) return {};
  const auto here = ReadProcess(self);
  bool unclear = false;
  const OwnerProcess found =
      FindAmong(ProcessesSince(here ? here->start_ticks : 0), owner, &unclear);
  if (found.pid != 0 || (unclear && owner.process_start_ticks != 0)) return found;
  return maps ? OwnerProcess() : OwnerProcess{owner.pid, 0};  // whether it does may not be told
}

OwnerSearch FindRunningOwner(const GaugeOwner& owner) {
  const bool same_namespace = owner.pid_namespace != 0 && owner.pid_namespace == ProcNamespace();
  const auto named = ReadProcess(owner.pid);
  // A number alone, of a namespace that is not known, is trusted unless the process is seen not to
  // have the file.
  const bool is_named =
      named && !named->ended() && (same_namespace || owner.pid_namespace == 0) &&
      (owner.process_start_ticks != 0
           ? named->start_ticks == owner.process_start_ticks
           : same_namespace || ProcessMapsFile(owner.pid, owner.path).value_or(true));
  if (is_named) return {{owner.pid, named->start_ticks}, false};
  if (same_namespace) return {};
  OwnerSearch search;
  search.process = FindAmong(ProcessesElsewhere(owner), owner, &search.unclear);
  if (search.process.pid == 0 && !ProcShowsAll()) search.unclear = true;
  return search;
}

bool IsGone(const OwnerProcess& owner) {
  if (owner.pid == 0) return true;
  const auto process = ReadProcess(owner.pid);
  if (!process || process->ended()) return true;
  return owner.start_ticks != 0 && process->start_ticks != owner.start_ticks;
}

std::unordered_map<uint32_t, uint32_t> ThreadsByOwnNumber(uint32_t pid) {
  std::unordered_map<uint32_t, uint32_t> threads;
  const std::string tasks = "/proc/" + std::to_string(pid) + "/task";
  for (const uint32_t id : NumbersIn(tasks).value_or(std::vector<uint32_t>())) {
    const std::string task = tasks + "/" + std::to_string(id);
    if (const uint32_t own = InnermostPidOf(task)) threads[own] = id;
    for (const uint32_t child : ChildrenOf(task)) {
      const uint32_t own = InnermostPidOf("/proc/" + std::to_string(child));
      if (own != 0) threads.try_emplace(own, child);
    }
  }
  return threads;
}

Result<GaugeOwner> ReadOwner(const std::string& path) {
  HG_ASSIGN(const File file, File::OpenForReading(path));
  wire::Header header{};
  if (file.ReadAt(0, &header, sizeof header) != sizeof header ||
      std::memcmp(header.magic, wire::kMagic, sizeof header.magic) != 0) {
    return Fail(ErrorCode::kNotRecognized, "'" + Printable(path) + "' is not a gauge file");
  }
  return OwnerIn(header, path);
}

GaugeOwner OwnerIn(const wire::Header& header, const std::string& path) {
  const bool has_recorder = header.version >= 3;
  return GaugeOwner{path,
                    header.pid,
                    header.parent_pid,
                    header.process_start_ticks,
                    header.start_realtime_ns,
                    header.ended_ns,
                    header.is_copy != 0,
                    has_recorder ? header.recorder_pid : 0,
                    header.is_copy != 0 ? header.dump.time_ns : 0,
                    header.version >= 5 ? header.pid_namespace : 0};
}

uint32_t RunningAs(const GaugeOwner& owner) {
  if (owner.ended_ns != 0 || owner.is_copy) return 0;
  return FindRunningOwner(owner).process.pid;
}

bool OwnerRuns(const GaugeOwner& owner) { return RunningAs(owner) != 0; }

}  // namespace heapgauge
