// ps: what is profiled on this host, and what was.

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <set>
#include <utility>

#include "cli/cli.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/doctor/gauge.h"
#include "core/fold/statistics.h"
#include "core/gauge/gauge_directory.h"
#include "core/os/process.h"
#include "core/report/recording_text.h"

namespace heapgauge::cli {
namespace {

struct PsOptions {
  bool json = false;
  bool prune = false;
};

struct Entry {
  std::string path;
  Result<GaugeFacts> facts;
  const RecordingFacts& recording() const { return facts->recording(); }
};

std::string Health(const Entry& entry) { return HealthOf(CheckGauge(*entry.facts, Version())); }

// Those that were told where their file goes (run -o, --dir) are known by their mappings alone. On
// a host with very many processes the newest are looked at.
void CollectMapped(std::vector<Entry>* entries) {
  constexpr uint64_t kLookNs = kSecondNs;
  std::set<std::pair<uint64_t, uint64_t>> listed;
  const auto is_new = [&](const std::string& path) {
    const auto file = IdentityOf(path);
    return file && listed.emplace(file->device, file->inode).second;
  };
  for (const Entry& entry : *entries) is_new(entry.path);
  const uint64_t until = MonotonicNow() + kLookNs;
  std::vector<uint32_t> processes = ProcessesSince(0);
  std::reverse(processes.begin(), processes.end());
  for (const uint32_t pid : processes) {
    if (MonotonicNow() > until) break;
    const std::string path = OwnGaugePath(pid);
    if (!path.empty() && is_new(path)) entries->push_back({path, ReadGaugeFacts(path)});
  }
}

std::vector<Entry> Collect() {
  std::vector<Entry> entries;
  for (const std::string& directory : GaugeDirectories()) {
    const auto paths = ListGaugeFiles(directory);
    if (!paths) continue;
    for (const std::string& path : *paths) entries.push_back({path, ReadGaugeFacts(path)});
  }
  CollectMapped(&entries);
  // Running ones first, then the newest.
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    const auto rank = [](const Entry& entry) {
      if (!entry.facts) return 2;
      return entry.recording().state == RecordingState::kLive ? 0 : 1;
    };
    if (rank(a) != rank(b)) return rank(a) < rank(b);
    return a.facts && b.facts && a.recording().start_unix_ns > b.recording().start_unix_ns;
  });
  return entries;
}

std::string Table(const std::vector<Entry>& entries) {
  std::string text = fmt::format("{:>8}  {:<7} {:<18}{:>9}{:>16}{:>11}{:>9}{:>9}{:>8}  {:<13} {}\n",
                                 "pid", "state", "program", "live", "95 % range", "rate", "samples",
                                 "interval", "age", "health", "file");
  const uint64_t now = RealtimeNow();
  for (const Entry& entry : entries) {
    if (!entry.facts) {
      text += fmt::format("{:>8}  {:<7} {}\n", "-", "broken", entry.facts.error().message);
      continue;
    }
    const RecordingFacts& r = entry.recording();
    const Estimate& live = entry.facts->summary.live_bytes;
    const Interval range = Interval95(OrNothingSampled(live, r));
    // What was never sampled has no figures.
    const auto sampled = [&](std::string figure) {
      return r.traced && r.samples == 0 ? "-" : std::move(figure);
    };
    text +=
        fmt::format("{:>8}  {:<7} {}{}{}{}{}{}{}  {:<13} {}\n", r.pid, StateName(r.state),
                    PadRight(CutTo(r.name(), 17), 18), PadLeft(sampled(FormatBytes(live.value)), 9),
                    PadLeft(sampled(FormatByteRange(range.low, range.high)), 16),
                    PadLeft(sampled(FormatBytes(entry.facts->allocated_per_second) + "/s"), 11),
                    PadLeft(sampled(FormatCount(static_cast<double>(r.samples))), 9),
                    PadLeft(sampled(FormatBytes(static_cast<double>(r.interval_in_force))), 9),
                    PadLeft(FormatDuration(now - std::min(now, r.start_unix_ns + r.began_ns())), 8),
                    Health(entry), Printable(entry.path));
  }
  return text;
}

std::string AsJson(const std::vector<Entry>& entries) {
  Json list = Json::Array();
  for (const Entry& entry : entries) {
    Json json = {{"file", Printable(entry.path)}};
    if (!entry.facts) {
      json["error"] = entry.facts.error().message;
    } else {
      const RecordingFacts& r = entry.recording();
      const GaugeSummary& summary = entry.facts->summary;
      const Interval range = Interval95(OrNothingSampled(summary.live_bytes, r));
      json["pid"] = r.pid;
      json["program"] = r.program;
      json["command_line"] = r.command_line;
      json["state"] = StateName(r.state);
      json["active"] = r.active;
      json["traced"] = r.traced;
      json["live_bytes"] = {
          {"value", summary.live_bytes.value}, {"low", range.low}, {"high", range.high}};
      json["live_objects"] = summary.live_objects;
      json["allocated_per_second"] = entry.facts->allocated_per_second;
      json["health"] = Health(entry);
      json["samples"] = r.samples;
      json["live_samples"] = r.live_samples;
      json["lost_samples"] = r.lost_samples();
      json["lost_bytes"] = r.lost_bytes;
      json["interval"] = r.interval;
      json["interval_in_force"] = r.interval_in_force;
      json["start_unix_ns"] = r.start_unix_ns;
      json["duration_ns"] = r.duration_ns;
      json["forked_ns"] = r.began_ns();
    }
    list.Add(std::move(json));
  }
  return list.Text();
}

// A file without a header may belong to a program that starts right now; it goes when it is old.
bool MayRemove(const Entry& entry) {
  if (entry.facts) return IsOver(entry.recording().state);
  if (entry.facts.error().code != ErrorCode::kUnfinished) return false;
  constexpr uint64_t kMinuteNs = 60'000'000'000;
  struct stat st {};
  if (stat(entry.path.c_str(), &st) != 0) return false;
  const uint64_t changed = static_cast<uint64_t>(st.st_mtim.tv_sec) * 1'000'000'000;
  return changed + kMinuteNs < RealtimeNow();
}

// Files that may go and that no process has in its memory, whatever is said of their owners. One
// whose identity cannot be read is left alone.
std::vector<bool> Removable(const std::vector<Entry>& entries) {
  std::vector<bool> removable(entries.size(), false);
  std::vector<size_t> numbers;
  std::vector<FileIdentity> files;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (!MayRemove(entries[i])) continue;
    auto file = IdentityOf(entries[i].path);
    if (!file) continue;
    numbers.push_back(i);
    files.push_back(*std::move(file));
  }
  const std::vector<bool> mapped = MappedBySome(files);
  for (size_t i = 0; i < numbers.size(); ++i) removable[numbers[i]] = !mapped[i];
  return removable;
}

int Prune(std::vector<Entry>* entries, std::string* text) {
  const std::vector<bool> removable = Removable(*entries);
  std::vector<Entry> kept;
  for (size_t i = 0; i < entries->size(); ++i) {
    Entry& entry = (*entries)[i];
    if (!removable[i]) {
      kept.push_back(std::move(entry));
      continue;
    }
    if (unlink(entry.path.c_str()) != 0) {
      return FailWith(SystemError("cannot remove '" + Printable(entry.path) + "'", errno));
    }
    *text += "removed " + Printable(entry.path) + "\n";
  }
  *entries = std::move(kept);
  return kDone;
}

int Ps(const PsOptions& options) {
  std::vector<Entry> entries = Collect();
  std::string removed;
  if (options.prune) {
    if (const int code = Prune(&entries, &removed); code != kDone) return code;
  }
  if (options.json) return PrintOut(AsJson(entries));
  if (!entries.empty()) return PrintOut(removed + Table(entries));
  std::string where;
  for (const std::string& directory : GaugeDirectories()) {
    where += (where.empty() ? " in " : ", ") + Printable(directory);
  }
  return PrintOut(removed + "No gauge files" + where +
                  ". Start a program with: heapgauge run -- ./program\n");
}

void DescribePs(Command sub, Action* action) {
  auto options = std::make_shared<PsOptions>();
  sub.Footer(R"(
States: live; ended in good order; killed (gone without a goodbye: a signal, the OOM killer); exec (the
process went on as another program, which has its own file); copy (a dump, of that moment); unknown (its process
is in a pid namespace that is not seen from here). The pid is the number that the process has here.
Rate is what the program allocates per second, over the last minute. Health is ok, or the first thing that
heapgauge doctor would say: few samples, coarse (the interval), off, lost samples, no growth (of the file), ...
Files of programs that are gone stay readable until --prune removes them; never one that some process maps.
Looks into $HEAPGAUGE_DIR, the `dir` of the settings file, $XDG_RUNTIME_DIR/heapgauge,
/dev/shm/heapgauge-UID, /tmp/heapgauge-UID;
root sees all users. Running programs whose file is elsewhere (run -o, --dir) are listed where their mappings may be
read.)");
  sub.Flag("--json", &options->json, "as JSON");
  sub.Flag("--prune", &options->prune, "remove the files of programs that are gone");
  sub.OnChosen([=] { *action = [=] { return Ps(*options); }; });
}

}  // namespace

const CommandEntry kPsCommand = {"ps", "what is profiled on this host, and what was", DescribePs};

}  // namespace heapgauge::cli
