#include "endpoint/base/gauge_process.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/base/file.h"
#include "core/base/text.h"
#include "core/gauge/gauge_control.h"
#include "core/gauge/gauge_directory.h"
#include "core/gauge/gauge_dump.h"
#include "core/gauge/gauge_facts.h"
#include "core/gauge/gauge_reader.h"
#include "core/memory/survey.h"
#include "core/os/process.h"
#include "core/os/process_memory.h"
#include "core/report/recording_text.h"
#include "core/symbolize/debuginfod.h"
#include "core/symbolize/symbolizer.h"
#include "endpoint/base/address_names.h"

namespace heapgauge::endpoint {
namespace {

// A program that allocates sees a change within this; one that does not cannot be waited for.
constexpr int kSeenMs = 250;
// Code that is generated anew again and again would fill memory with its names.
constexpr size_t kMostNames = 4 << 20;
// Larger processes are accounted for by their sums; their page tables take seconds to read.
constexpr uint64_t kFullSurveyBytes = uint64_t{64} << 30;

uint32_t PidOf(const std::string& path) {
  const auto owner = ReadOwner(path);
  if (!owner) return 0;
  const uint32_t here = RunningAs(*owner);
  return here != 0 ? here : owner->pid;
}

}  // namespace

GaugeProcess::GaugeProcess(std::string path, GaugeProcessOptions options)
    : path_(std::move(path)), options_(std::move(options)), pid_(PidOf(path_)) {}

Result<RecordingFacts> GaugeProcess::Facts() {
  HG_ASSIGN(const File file, File::OpenForReading(path_));
  HG_ASSIGN(const GaugeLayout layout, GaugeLayout::Read(file, path_));
  RecordingFacts recording = RecordingOf(layout);
  FindState(layout, path_, 0, &recording);
  return recording;
}

Result<std::shared_ptr<const Profile>> GaugeProcess::Take(Moment moment) {
  Shared& shared = shared_[static_cast<size_t>(moment)];
  const uint64_t arrived = options_.clock();
  const std::lock_guard lock(shared.mutex);
  // Whoever had to wait for one that was being read takes that; but once a program has ended, none
  // that says it runs.
  const bool fresh = shared.profile != nullptr &&
                     (arrived < shared.begun_ns + kSharedNs || arrived <= shared.done_ns) &&
                     (shared.profile->recording.state != RecordingState::kLive || CheckRuns());
  if (fresh) return shared.profile;
  shared.profile = nullptr;
  const uint64_t begun = options_.clock();
  GaugeReadOptions read;
  read.peak = moment == Moment::kPeak;
  HG_ASSIGN(Profile profile, ReadGaugeFile(path_, read));
  shared.profile = std::make_shared<const Profile>(std::move(profile));
  shared.begun_ns = begun;
  shared.done_ns = options_.clock();
  return shared.profile;
}

Result<std::shared_ptr<const Profile>> GaugeProcess::TakeWithNames(Moment moment) {
  HG_ASSIGN(std::shared_ptr<const Profile> plain, Take(moment));
  const std::lock_guard lock(names_mutex_);
  Named& named = named_[static_cast<size_t>(moment)];
  if (named.of != plain) {
    named = {};
    auto profile = std::make_shared<Profile>(*plain);
    NameLocked(profile.get());
    named = {std::move(plain), std::move(profile)};
  }
  return named.profile;
}

void GaugeProcess::AddNames(Profile* profile) {
  const std::lock_guard lock(names_mutex_);
  NameLocked(profile);
}

void GaugeProcess::NameLocked(Profile* profile) {
  if (frames_.size() > kMostNames) frames_ = {};
  frames_.Fill(profile);
  const std::vector<std::string> notes =
      frames_.Learn(*profile, FindNames(options_.name_cache, profile));
  profile->notes.insert(profile->notes.end(), notes.begin(), notes.end());
}

std::vector<std::string> GaugeProcess::FindNames(const std::string& cache, Profile* profile) {
  SymbolizeOptions options;
  options.extra_debug_dirs = options_.debug_directories;
  options.cache_dir = cache;
  std::unique_ptr<Debuginfod> debuginfod;
  if (options_.use_debuginfod) debuginfod = Debuginfod::FromEnvironment();
  options.debuginfod = debuginfod.get();
  const RecordingState state = profile->recording.state;
  if (state == RecordingState::kLive || state == RecordingState::kSnapshot) options.pid = pid_;
  return Symbolize(options, profile).notes;
}

std::vector<std::vector<std::string>> GaugeProcess::NamesOf(
    const std::vector<uint64_t>& addresses) {
  // Clients ask for addresses of a profile, so that all of these are known after this.
  const auto profile = TakeWithNames(Moment::kNow);
  if (!profile) return std::vector<std::vector<std::string>>(addresses.size());
  AddressNames names(**profile, ReadMapsOf(**profile));
  Profile questions = names.Ask(addresses);
  const std::lock_guard lock(names_mutex_);
  frames_.Fill(&questions);
  // The others may be anything: they are looked up, but not remembered.
  FindNames("", &questions);
  return names.Answer(questions);
}

Status GaugeProcess::CheckRuns() {
  HG_ASSIGN(const RecordingFacts facts, Facts());
  if (facts.state == RecordingState::kLive) return {};
  return Fail(ErrorCode::kUnavailable,
              fmt::format("process {} does not run any more ({}); its data can be read, not "
                          "changed",
                          facts.pid, StateText(facts)));
}

template <typename Change>
Result<bool> GaugeProcess::ChangeAndWait(Change&& change) {
  HG_TRY(CheckRuns());
  HG_ASSIGN(GaugeControl control, GaugeControl::Open(path_));
  HG_TRY(change(&control));
  if (options_.nudge) options_.nudge();
  const bool seen = control.WaitUntilSeen(kSeenMs);
  Forget();
  return seen;
}

// What was taken before a change is not an answer after it.
void GaugeProcess::Forget() {
  for (Shared& shared : shared_) {
    const std::lock_guard lock(shared.mutex);
    shared.profile = nullptr;
  }
}

Result<bool> GaugeProcess::SetActive(bool active) {
  return ChangeAndWait([=](GaugeControl* control) { return control->SetActive(active); });
}

Result<bool> GaugeProcess::SetInterval(uint64_t bytes) {
  return ChangeAndWait([=](GaugeControl* control) { return control->SetInterval(bytes); });
}

Result<bool> GaugeProcess::Reset() {
  return ChangeAndWait([](GaugeControl* control) { return control->RequestReset(); });
}

Status GaugeProcess::MayDump() {
  if (options_.dump_directory.empty()) {
    return Fail(ErrorCode::kUnavailable,
                "there is no directory for dumps; give the server one (--dump-dir)");
  }
  return {};
}

Result<std::string> GaugeProcess::Dump() {
  HG_TRY(MayDump());
  return DumpGaugeTo(path_, {options_.dump_directory, ""}, wire::DumpReason::kRequest);
}

std::shared_ptr<Process> GaugeProcess::OfDump(const std::string& path) {
  return std::make_shared<GaugeProcess>(path, options_);
}

Status GaugeProcess::MayChange() {
  HG_TRY(CheckRuns());
  HG_TRY(GaugeControl::Open(path_));
  return {};
}

std::optional<uint64_t> GaugeProcess::ResidentBytes() {
  return CheckRuns() ? heapgauge::ResidentBytes(pid_) : std::nullopt;
}

Result<MemorySurvey> GaugeProcess::Memory() {
  HG_ASSIGN(GaugeMemory gauge, ReadGaugeMemory(path_));
  if (gauge.recording.state == RecordingState::kLive) {
    // Fresh figures of the allocator, if the program samples soon enough.
    auto control = GaugeControl::Open(path_);
    if (control && control->RequestStatistics() && control->WaitForStatistics(kSeenMs)) {
      HG_ASSIGN(gauge, ReadGaugeMemory(path_));
    }
  }
  UseTracedBlocks(&gauge);
  SurveyOptions options;
  options.full_up_to = kFullSurveyBytes;
  return SurveyMemory(gauge, options);
}

std::optional<MemoryNow> GaugeProcess::GlanceAtMemory() {
  const auto owner = ReadOwner(path_);
  const uint32_t pid = owner ? RunningAs(*owner) : 0;
  if (pid == 0) return std::nullopt;
  const auto status = ReadProcessStatus(ProcessDirectory(pid));
  if (!status || status->resident == 0) return std::nullopt;
  MemoryNow now;
  now.resident_bytes = status->resident;
  now.swapped_bytes = status->swapped;
  if (const auto cgroup = ReadCgroupMemory(pid)) {
    now.cgroup_bytes = cgroup->usage;
    now.cgroup_limit = cgroup->limit;
  }
  return now;
}

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
