// run: start a program with the agent in it.

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>

#include "cli/cli.h"
#include "cli/http_host.h"
#include "cli/launch.h"
#include "cli/run_watch.h"
#include "cli/trace_run.h"
#include "core/base/encode.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/doctor/examine.h"
#include "core/gauge/gauge_directory.h"
#include "core/gauge/gauge_facts.h"
#include "core/gauge/owner_process.h"
#include "core/os/process.h"
#include "core/report/recording_text.h"
#include "core/symbolize/name_cache.h"
#include "wire/gauge_format.h"

namespace heapgauge::cli {
namespace {

constexpr int kCannotExecute = 126;  // as shells have it
constexpr int kNotFound = 127;

struct RunOptions {
  std::string sample;
  std::string output;
  std::string directory;
  std::string max_rate;
  bool quiet = false;
  bool inactive = false;
  bool no_follow_exec = false;
  DumpOptions dumps;
  bool mmap = false;
  ListenOptions http;
  TraceRunOptions trace;
  LeakRunOptions leaks;
};

// The agent never replaces a file. What an earlier run left under that name goes here, before the
// program starts, unless it is something else or a program still writes it.
Status MakeRoomAt(const std::string& path) {
  struct stat st {};
  if (lstat(path.c_str(), &st) != 0) return {};
  const std::string quoted = "-o: '" + Printable(path) + "'";
  const bool is_file = S_ISREG(st.st_mode);
  const auto owner = ReadOwner(path);
  if (!is_file || (!owner && st.st_size != 0)) {
    return Fail(ErrorCode::kInvalidArgument,
                quoted + " is there and is no gauge file; name another file, or remove it");
  }
  if (owner) {
    const OwnerSearch found =
        owner->ended_ns != 0 || owner->is_copy ? OwnerSearch() : FindRunningOwner(*owner);
    const bool runs = found.process.pid != 0 && !WasReplaced(*owner);
    const auto file = IdentityOf(path);
    if (runs || found.unclear || !file || MappedBySome({*file}).front()) {
      return Fail(ErrorCode::kInvalidArgument,
                  quoted + fmt::format(" is the gauge file of process {}, which {}; name another "
                                       "file",
                                       found.process.NumberOf(*owner),
                                       found.unclear ? "may still run" : "still runs"));
    }
  }
  if (unlink(path.c_str()) != 0 && errno != ENOENT) {
    return tl::unexpected<Error>(SystemError(quoted + " cannot be replaced", errno));
  }
  return {};
}

Result<LaunchSpec> Prepare(const RunOptions& options, std::string* output, std::string* directory,
                           DumpWatch::Options* dumps) {
  LaunchSpec spec;
  spec.command = CommandAfterDashes();
  if (spec.command.empty()) {
    return Fail(ErrorCode::kInvalidArgument,
                "no program to run; write it after --, for example: heapgauge run -- ./server");
  }
  HG_ASSIGN(const std::string agent, FindAgent());
  HG_TRY(PreloadAgent(agent, &spec));
  if (!options.sample.empty()) {
    HG_ASSIGN(const uint64_t interval, SizeOption("--sample", options.sample));
    if (interval == 0 || interval > wire::kMaxIntervalBytes) {
      return Fail(ErrorCode::kInvalidArgument, "--sample: from 1 byte to 1024G");
    }
    spec.environment.emplace_back("HEAPGAUGE_SAMPLE", std::to_string(interval));
  }
  if (!options.max_rate.empty()) {
    char* end = nullptr;
    const unsigned long rate = std::strtoul(options.max_rate.c_str(), &end, 10);
    if (*end != 0 || options.max_rate[0] == '-' || rate > 0xffffffff) {
      return Fail(ErrorCode::kInvalidArgument,
                  "--max-rate: '" + options.max_rate + "' is not a number of samples per second");
    }
    spec.environment.emplace_back("HEAPGAUGE_MAX_RATE", std::to_string(rate));
  }
  spec.environment.emplace_back("HEAPGAUGE_ACTIVE", options.inactive ? "0" : "1");
  if (options.mmap) spec.environment.emplace_back("HEAPGAUGE_MMAP", "1");
  spec.environment.emplace_back("HEAPGAUGE_FOLLOW_EXEC", options.no_follow_exec ? "0" : "1");
  if (!options.directory.empty()) {
    *directory = std::filesystem::absolute(options.directory).string();
    if (mkdir(directory->c_str(), 0700) != 0 && errno != EEXIST) {
      return tl::unexpected<Error>(SystemError("--dir: cannot make '" + *directory + "'", errno));
    }
    spec.environment.emplace_back("HEAPGAUGE_DIR", *directory);
  } else if (const char* set = std::getenv("HEAPGAUGE_DIR"); set != nullptr) {
    *directory = set;
  }
  if (!options.output.empty()) {
    *output = std::filesystem::absolute(options.output).lexically_normal().string();
    const std::string parent = std::filesystem::path(*output).parent_path().string();
    if (access(parent.c_str(), W_OK | X_OK) != 0) {
      return tl::unexpected<Error>(SystemError("-o: cannot write into '" + parent + "'", errno));
    }
    if (std::filesystem::is_directory(*output)) {
      return Fail(ErrorCode::kInvalidArgument,
                  "-o: '" + *output + "' is a directory; name a file in it");
    }
    HG_TRY(MakeRoomAt(*output));
    spec.environment.emplace_back("HEAPGAUGE_OUT", *output);
    spec.pid_variable = "HEAPGAUGE_OUT_PID";
  }
  HG_ASSIGN(*dumps, PrepareDumps(options.dumps, &spec.environment));
  return spec;
}

void TellResult(const RunOptions& options, const LaunchSpec& spec, const LaunchResult& result,
                const std::string& output, const std::string& directory, GaugeWatch* watch) {
  if (options.quiet) return;
  size_t others = 0;
  const std::string path = watch->FileOf(result.pid, &others);
  const std::string program(BaseName(spec.command[0]));
  const std::string how = HowItEnded(result.wait_status);
  if (path.empty()) {
    std::string why = WhyNoGauge(spec.command, directory);
    if (why.empty()) why = "the agent could make no file; heapgauge doctor tells more";
    TellUser("heapgauge: {} (pid {}) {}; there is no profile: {}\n", Printable(program), result.pid,
             how, why);
    return;
  }
  const auto summary = ReadGaugeSummary(path);
  if (!summary) {
    TellUser("heapgauge: {} (pid {}) {}; {}\n", Printable(program), result.pid, how,
             summary.error().message);
    return;
  }
  const RecordingFacts& r = summary->recording;
  TellUser("heapgauge: {} (pid {}) {} after {}; live at the end {}, {} samples{}\n", r.name(),
           result.pid, how, FormatDuration(RunningTime(result, r)),
           LiveText(summary->live_bytes, r), FormatCount(static_cast<double>(r.samples)),
           r.lost.empty() ? "" : fmt::format(", {} lost", r.lost_samples()));
  if (const std::string why = r.samples == 0 ? WhyNoSamples(spec.command) : ""; !why.empty()) {
    TellUser("heapgauge: {}\n", why);
  }
  if (!r.lost.empty()) {
    TellUser("heapgauge: why samples were lost: heapgauge doctor {}\n", ShellWord(path));
  }
  const bool seen = r.state != RecordingState::kKilled && r.state != RecordingState::kReplaced;
  if (const std::string unseen = UnseenEnd(result, seen); !unseen.empty()) {
    TellUser("heapgauge: {}\n", unseen);
  }
  if (others != 0) {
    const std::string where = output.empty() ? "heapgauge ps" : Printable(output) + ".PID";
    TellUser("heapgauge: processes that it started have {} more: {}\n", others, where);
  }
  if (r.dump.sequence != 0) {
    TellUser("heapgauge: it made dumps, the last one at {}: {}\n", FormatDuration(r.dump.time_ns),
             r.dump.reason);
  }
  if (const std::string failed = DumpText(r); !failed.empty()) {
    TellUser("heapgauge: {}\n", failed);
  }
  TellUser("heapgauge: look at it with: heapgauge top {}\n", ShellWord(path));
}

// What --http asks for; nothing without it.
struct Serving {
  std::shared_ptr<RunProcesses> processes;
  HttpHost* host = nullptr;

  // The program runs all the same if no thread can be made.
  void Start(pid_t pid) const {
    if (host == nullptr) return;
    processes->set_program(pid);
    if (const Status status = host->Start(); !status) FailWith(status.error());
  }
  void Stop() const {
    if (host != nullptr) host->Stop();
  }
};

// Binds, so that the program is not started in vain if that fails.
Result<Serving> OpenHost(const RunOptions& options, const LaunchSpec& spec,
                         const DumpWatch::Options& dumps, GaugeWatch* watch) {
  if (options.http.address.empty()) {
    if (options.http.token_file.empty() && !options.http.insecure) return Serving{};
    return Fail(ErrorCode::kInvalidArgument, "--token-file and --insecure go with --http ADDR");
  }
  endpoint::GaugeProcessOptions how;
  how.name_cache = DefaultNameCacheDir();
  how.dump_directory = dumps.place.directory;
  auto processes = std::make_shared<RunProcesses>(watch, std::move(how));
  HG_ASSIGN(auto host, HttpHost::Open(options.http, processes));
  if (!options.quiet) {
    TellUser("heapgauge: serving {}/ ({})\n", host->url(), Printable(BaseName(spec.command[0])));
  }
  // Never destroyed: an answer that is still being made must not hold up the end of `run`.
  return Serving{std::move(processes), host.release()};
}

// What samples are about makes no sense when every call is recorded, for a trace or for --leaks.
Status CheckForTrace(const RunOptions& options) {
  const DumpOptions& dumps = options.dumps;
  const bool dumping = dumps.at_exit || !dumps.allocated.empty() || !dumps.growth.empty() ||
                       !dumps.seconds.empty() || !dumps.limit.empty() || !dumps.directory.empty() ||
                       !dumps.prefix.empty() || !dumps.keep.empty();
  const bool serving =
      !options.http.address.empty() || !options.http.token_file.empty() || options.http.insecure;
  const char* given = !options.sample.empty()     ? "--sample"
                      : !options.max_rate.empty() ? "--max-rate"
                      : options.inactive          ? "--inactive"
                      : serving                   ? "--http"
                      : dumping                   ? "--dump-..."
                                                  : nullptr;
  if (given == nullptr) return {};
  const char* const why = options.trace.trace ? "--trace" : "--leaks";
  return Fail(ErrorCode::kInvalidArgument,
              fmt::format("{} does not go with {}, which takes no samples", given, why));
}

int RunWithTrace(const RunOptions& options) {
  if (const Status status = CheckForTrace(options); !status) return FailWith(status.error());
  TraceRun run;
  run.options = options.trace;
  run.leaks = options.leaks;
  (options.trace.trace ? run.output : run.leaks.how.report.output) = options.output;
  run.mmap = options.mmap;
  run.quiet = options.quiet;
  const char* verbose = std::getenv("HEAPGAUGE_VERBOSE");
  run.verbose = options.dumps.verbose || (verbose != nullptr && std::strcmp(verbose, "1") == 0);
  RunOptions others = options;
  others.output.clear();  // is the trace's, not the gauge file's
  std::string no_output;
  DumpWatch::Options no_dumps;
  auto spec = Prepare(others, &no_output, &run.directory, &no_dumps);
  if (!spec) return FailWith(spec.error());
  return RunTraced(run, *std::move(spec));
}

int Run(RunOptions options) {
  if (const Status status = CheckLeakRun(&options.leaks); !status) return FailWith(status.error());
  if (options.trace.trace || options.leaks.on) return RunWithTrace(options);
  if (const Status status = CheckWithoutTrace(options.trace); !status) {
    return FailWith(status.error());
  }
  std::string output;
  std::string directory;
  DumpWatch::Options dumps;
  const auto spec = Prepare(options, &output, &directory, &dumps);
  if (!spec) return FailWith(spec.error());
  GaugeWatch watch(output, directory, DumpWatch(dumps));
  const auto serving = OpenHost(options, *spec, dumps, &watch);
  if (!serving) return FailWith(serving.error());
  const auto result = Launch(
      *spec, watch.period_ns(), [&](pid_t pid) { watch.Tick(pid); },
      [&](pid_t pid) { serving->Start(pid); });
  if (!result) return FailWith(result.error());
  serving->Stop();
  if (result->exec_errno != 0) {
    FailWith(SystemError("cannot run '" + Printable(spec->command[0]) + "'", result->exec_errno));
    return result->exec_errno == ENOENT ? kNotFound : kCannotExecute;
  }
  TellResult(options, *spec, *result, output, directory, &watch);
  EndLike(result->wait_status);
}

void DescribeRun(Command sub, Action* action) {
  auto options = std::make_shared<RunOptions>();
  sub.Footer(R"(
The program runs as it would without heapgauge: same streams, signals and exit code. Its gauge file can be
read at any time, from another terminal while it runs or after it was killed.

Examples:
  heapgauge run -- ./server --port 80
  heapgauge run --sample 128K -o heap.hg -- ./batch input.txt     finer, and the file where you want it
  heapgauge run --inactive -- ./server     no sampling until: heapgauge ctl PID enable
  heapgauge run --dump-limit 80 --dump-dir /var/lib/profiles -- ./server
                                           have a profile when the OOM killer comes
  heapgauge run --dump-growth 100M --dump-keep 10 --verbose -- ./server
  heapgauge run --trace -o run.hgt -- ./batch input.txt     every allocation and free, exactly
  heapgauge run --http 127.0.0.1:9700 -- ./server     and look at it with a browser, curl or go tool pprof)");
  sub.Add("--sample", &options->sample, "mean bytes between samples, for example 512K (default)")
      .NotEmpty();
  sub.Add("-o,--output", &options->output,
          "the gauge file, or the trace, in place of one that an earlier run left; other processes "
          "of the program get FILE.PID, and run.PID.hgt of a trace with -o run.hgt")
      .NotEmpty();
  sub.Add("--dir", &options->directory, "directory for gauge files, in place of the default")
      .NotEmpty();
  sub.Add("--max-rate", &options->max_rate, "at most N samples per second, 0 for no cap");
  sub.Flag(
      "--quiet", &options->quiet,
      "print nothing at the end, but that a trace or a check failed; with --leaks no report, in "
      "whatever form, unless it goes to -o FILE");
  sub.Flag("--mmap", &options->mmap, "record every mmap, munmap and mremap with its stack");
  sub.Flag("--inactive", &options->inactive, "start with sampling switched off");
  sub.Flag("--no-follow-exec", &options->no_follow_exec,
           "do not profile programs that the program executes");
  AddTraceRunOptions(sub, &options->trace);
  AddLeakRunOptions(sub, &options->leaks);
  AddDumpOptions(sub, &options->dumps);
  AddListenOptions(
      sub, &options->http,
      "serve its profile there while it runs: HOST:PORT or unix:PATH, see heapgauge serve");
  sub.KeepRest();  // "run ls -l" without dashes works too
  sub.OnChosen([=] {
    if (CommandAfterDashes().empty()) {
      CommandAfterDashes() = sub.Rest();
    } else if (!sub.Rest().empty()) {
      sub.RejectRest();
    }
    *action = [=] { return Run(*options); };
  });
}

}  // namespace

const CommandEntry kRunCommand = {
    "run", "profile a program from its start: run [OPTIONS] -- CMD ARGS...", DescribeRun};

}  // namespace heapgauge::cli
