#include "cli/run_watch.h"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <tuple>

#include "cli/cli.h"
#include "core/base/file.h"
#include "core/base/numbers.h"
#include "core/base/text.h"
#include "core/gauge/gauge_directory.h"
#include "core/gauge/gauge_facts.h"
#include "core/os/process.h"
#include "core/os/process_memory.h"

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

namespace {

constexpr uint32_t kDefaultKeep = 32;  // as the agent has it

std::string FromEnvironment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

// A plain number, from an option or, silently ignored if it is none, from the environment.
Result<uint64_t> Number(const std::string& option, const std::string& text, const char* variable,
                        uint64_t most, uint64_t otherwise) {
  const std::string& source = text.empty() ? FromEnvironment(variable) : text;
  const auto number = NumberIn<uint64_t>(source);
  if (number && *number <= most) return *number;
  if (text.empty()) return otherwise;
  return Fail(
      ErrorCode::kInvalidArgument,
      option + ": '" + Printable(text) + "' is not a number from 0 to " + std::to_string(most));
}

// As it is where there is no current directory any more: that is no reason not to run the program.
std::string Absolute(const std::string& path) {
  if (path.empty()) return path;
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  return error ? path : absolute.lexically_normal().string();
}

}  // namespace

void AddDumpOptions(Command sub, DumpOptions* options) {
  sub.Flag("--dump-exit", &options->at_exit, "dump when the program ends");
  sub.Add("--dump-allocated", &options->allocated, "dump for every so many bytes, such as 1G");
  sub.Add("--dump-growth", &options->growth,
          "dump when live memory has grown by so many bytes, such as 100M");
  sub.Add("--dump-seconds", &options->seconds, "dump every so many seconds");
  sub.Add("--dump-limit", &options->limit,
          "dump when memory passes this percentage of its limit, such as 80");
  sub.Add("--dump-dir", &options->directory, "directory for dumps, in place of the current one");
  sub.Add("--dump-prefix", &options->prefix, "name them PREFIX.0001.hg and so on");
  sub.Add("--dump-keep", &options->keep, "keep at most N of each process, 0 for all (32)");
  sub.Flag("--verbose", &options->verbose, "say so on standard error when a dump is made");
}

Result<DumpWatch::Options> PrepareDumps(
    const DumpOptions& options, std::vector<std::pair<std::string, std::string>>* environment) {
  const auto set = [&](const char* name, const std::string& value) {
    environment->emplace_back(name, value);
  };
  DumpWatch::Options outside;
  if (options.at_exit) set("HEAPGAUGE_DUMP_EXIT", "1");
  if (!options.allocated.empty()) {
    HG_ASSIGN(const uint64_t bytes, SizeOption("--dump-allocated", options.allocated));
    set("HEAPGAUGE_DUMP_ALLOCATED", std::to_string(bytes));
  }
  if (!options.growth.empty()) {
    HG_ASSIGN(const uint64_t bytes, SizeOption("--dump-growth", options.growth));
    set("HEAPGAUGE_DUMP_GROWTH", std::to_string(bytes));
  }
  HG_ASSIGN(outside.seconds, Number("--dump-seconds", options.seconds, "HEAPGAUGE_DUMP_SECONDS",
                                    uint64_t{1} << 32, 0));
  if (outside.seconds != 0) set("HEAPGAUGE_DUMP_SECONDS", "0");  // ours, see DumpWatch
  HG_ASSIGN(const uint64_t percent,
            Number("--dump-limit", options.limit, "HEAPGAUGE_DUMP_LIMIT", 99, 0));
  outside.percent = static_cast<uint32_t>(percent);
  if (!options.limit.empty()) set("HEAPGAUGE_DUMP_LIMIT", std::to_string(percent));
  HG_ASSIGN(const uint64_t keep,
            Number("--dump-keep", options.keep, "HEAPGAUGE_DUMP_KEEP", 1024, kDefaultKeep));
  outside.keep = static_cast<uint32_t>(keep);
  if (!options.keep.empty()) set("HEAPGAUGE_DUMP_KEEP", std::to_string(keep));
  outside.verbose = options.verbose || FromEnvironment("HEAPGAUGE_VERBOSE") == "1";
  if (options.verbose) set("HEAPGAUGE_VERBOSE", "1");

  // Absolute, since programs that the program executes may be started elsewhere.
  outside.place.directory = Absolute(
      options.directory.empty() ? FromEnvironment("HEAPGAUGE_DUMP_DIR") : options.directory);
  if (!options.directory.empty()) {
    const std::string& directory = outside.place.directory;
    if (mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) {
      return tl::unexpected<Error>(
          SystemError("--dump-dir: cannot make '" + Printable(directory) + "'", errno));
    }
  }
  if (!outside.place.directory.empty()) set("HEAPGAUGE_DUMP_DIR", outside.place.directory);
  std::string prefix =
      options.prefix.empty() ? FromEnvironment("HEAPGAUGE_DUMP_PREFIX") : options.prefix;
  if (!options.prefix.empty() && prefix.back() == '/') {
    return Fail(ErrorCode::kInvalidArgument, "--dump-prefix: '" + Printable(prefix) +
                                                 "' is a directory; give it to --dump-dir, or name "
                                                 "a file in it");
  }
  if (!prefix.empty()) {
    if (prefix[0] != '/' && !outside.place.directory.empty()) {
      prefix = outside.place.directory + "/" + prefix;
    }
    outside.place.prefix = Absolute(prefix);
    set("HEAPGAUGE_DUMP_PREFIX", outside.place.prefix);
  }
  if (outside.place.directory.empty()) outside.place.directory = Absolute(".");
  return outside;
}

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
