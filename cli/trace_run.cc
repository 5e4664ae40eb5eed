#include "cli/trace_run.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <system_error>

#include "cli/cli.h"
#include "cli/run_outcome.h"
#include "core/base/file.h"
#include "core/base/large_memory.h"
#include "core/base/numbers.h"
#include "core/base/text.h"
#include "core/gauge/mapped_gauge.h"
#include "core/os/process.h"
#include "core/recording/recording.h"
#include "core/trace/file/trace_file.h"
#include "core/trace/record/recorder.h"

namespace heapgauge::cli {
namespace {

constexpr int kCannotExecute = 126;
constexpr int kNotFound = 127;
constexpr uint64_t kLeastBuffer = 1 << 20;  // as the agent has them
constexpr uint64_t kMostBuffer = 256 << 20;

// "100us", "10ms", "1.5s", "2m".
Result<uint64_t> TimeOption(const std::string& option, const std::string& text) {
  struct Unit {
    const char* name;
    double ns;
  };
  constexpr Unit kUnits[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}};
  std::string_view unit = text;
  const auto number = TakeNumber<double>(&unit);
  for (const Unit& known : kUnits) {
    if (!number || unit != known.name) continue;
    const double ns = *number * known.ns;
    if (ns >= 1 && ns <= 3600e9) return static_cast<uint64_t>(ns);
  }
  return Fail(ErrorCode::kInvalidArgument,
              option + ": '" + Printable(text) +
                  "' is not a time; write for example 100us, 10ms or 1.5s, up to 60m");
}

// An older trace is replaced. A file of somebody else, which a slip of the finger names, is not,
// nor a trace that is being written. In a pipe nobody would find anything, and to open it waits for
// who reads it.
Status MayBecomeTrace(const std::string& path) {
  const auto refused = [&](const std::string& why) {
    return Fail(ErrorCode::kInvalidArgument, "-o: '" + Printable(path) + "' " + why);
  };
  std::error_code failed;
  const std::filesystem::file_status status = std::filesystem::status(path, failed);
  if (std::filesystem::is_directory(status)) return refused("is a directory; name a file in it");
  if (std::filesystem::is_fifo(status) || std::filesystem::is_socket(status)) {
    return refused("is a pipe: a trace is read by position and cannot go there; name a file");
  }
  if (!std::filesystem::is_regular_file(status)) return {};
  if (std::filesystem::file_size(path, failed) == 0 || failed) return {};
  if (FormatAt(path) != ProfileFormat::kTrace) {
    return refused("is there and is no trace; name another file, or remove it");
  }
  if (const auto file = File::OpenForReading(path); file && trace::HasWriter(file->fd())) {
    return refused("is being written by another recorder; name another file");
  }
  return {};
}

// A recorder that cannot map what the program writes would let it wait, for nothing.
Status HasAddresses() {
  constexpr uint64_t kOthers = 128 << 20;
  constexpr uint64_t kNeeded = trace::MappedGauge::kMapBytes + kOthers;
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
      limit.rlim_cur >= kNeeded) {
    return {};
  }
  return Fail(
      ErrorCode::kUnavailable,
      fmt::format("the recorder needs {} of addresses, and ulimit -v allows {}; set that for "
                  "the program alone: heapgauge run ... -- sh -c 'ulimit -v {}; exec \"$@\"' - "
                  "PROGRAM",
                  FormatBytes(static_cast<double>(kNeeded)),
                  FormatBytes(static_cast<double>(limit.rlim_cur)), limit.rlim_cur / 1024));
}

Status Prepare(const TraceRun& run, LaunchSpec* spec, trace::RecorderOptions* recorder) {
  HG_TRY(HasAddresses());
  auto& environment = spec->environment;
  environment.emplace_back("HEAPGAUGE_TRACE", "1");
  environment.emplace_back("HEAPGAUGE_LEAKS", run.leaks.on ? "1" : "0");
  if (run.leaks.on) {
    environment.emplace_back("HEAPGAUGE_LEAKS_FREERES",
                             run.leaks.no_freeres ? "never" : run.leaks.freeres);
    if (!run.options.cull_below.empty()) {
      return Fail(ErrorCode::kInvalidArgument,
                  "--cull-below leaves blocks out, and --leaks needs all of them");
    }
    if (run.options.drop) {
      return Fail(ErrorCode::kInvalidArgument,
                  "--drop loses calls, and to --leaks a block whose free is lost would be a leak");
    }
  }
  environment.emplace_back("HEAPGAUGE_TRACE_DROP", run.options.drop ? "1" : "0");
  environment.emplace_back("HEAPGAUGE_TRACE_FORK", run.options.follow_fork ? "1" : "0");
  environment.emplace_back("HEAPGAUGE_TRACE_RECORDER", std::to_string(getpid()));
  struct stat space {};
  if (stat("/proc/self/ns/pid", &space) != 0) space.st_ino = 0;
  environment.emplace_back("HEAPGAUGE_TRACE_NAMESPACE", std::to_string(space.st_ino));
  const bool counter = trace::BestClock() == wire::TraceClock::kCycleCounter;
  environment.emplace_back("HEAPGAUGE_TRACE_CLOCK", counter ? "tsc" : "monotonic");
  if (!run.options.buffer.empty()) {
    HG_ASSIGN(const uint64_t bytes, SizeOption("--trace-buffer", run.options.buffer));
    if (bytes < kLeastBuffer || bytes > kMostBuffer) {
      return Fail(ErrorCode::kInvalidArgument, "--trace-buffer: from 1M to 256M");
    }
    environment.emplace_back("HEAPGAUGE_TRACE_BUFFER", std::to_string(bytes));
  }
  if (!run.options.cull_below.empty()) {
    HG_ASSIGN(recorder->record.cull_below_ns, TimeOption("--cull-below", run.options.cull_below));
  }
  recorder->record.records_mappings = run.mmap;
  recorder->follow_fork = run.options.follow_fork;
  recorder->writes = run.options.trace;
  if (!recorder->writes) {
    recorder->gauge_directory = run.directory;
    return {};
  }
  recorder->gauge_directory = run.directory;
  std::error_code failed;
  const auto current = std::filesystem::current_path(failed);
  recorder->output_directory = failed ? "." : current.string();
  std::string parent = recorder->output_directory;
  if (run.output == "-") {
    return Fail(ErrorCode::kInvalidArgument,
                "-o -: a trace is written at many places and cannot go to standard output; name a "
                "file (./- if it shall be called so)");
  }
  if (!run.output.empty()) {
    recorder->output = std::filesystem::absolute(run.output).lexically_normal().string();
    parent = std::filesystem::path(recorder->output).parent_path().string();
    HG_TRY(MayBecomeTrace(recorder->output));
  }
  if (access(parent.c_str(), W_OK | X_OK) != 0) {
    return tl::unexpected<Error>(
        SystemError("cannot write the trace into '" + Printable(parent) + "'", errno));
  }
  return {};
}

// Waits for those that the program has left running. They may go on for long: whoever does not want
// to wait ends us, and the traces are complete up to there. REQUIRES: the signals that end us are
// blocked.
void WaitForRest(trace::Recorder* recorder, bool quiet) {
  sigset_t ours;
  sigemptyset(&ours);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) sigaddset(&ours, signal);
  uint64_t waited_ns = 0;
  while (!recorder->WaitFor(trace::Recorder::kBeatPeriodNs)) {
    recorder->Beat();
    const timespec at_once{0, 0};
    if (sigtimedwait(&ours, nullptr, &at_once) > 0) recorder->Stop();
    const bool first_time = waited_ns < kSecondNs;
    waited_ns += trace::Recorder::kBeatPeriodNs;
    if (quiet || !first_time || waited_ns < kSecondNs) continue;
    if (const size_t left = recorder->running(); left != 0) {
      TellUser(
          "heapgauge: the program has ended; {} that it started still run and are recorded "
          "(Ctrl-C ends that, not them)\n",
          left);
    }
  }
}

// Whether somebody cut or replaced the file while it was written. The recorder goes on where it
// was, so that what was cut off is a hole then.
bool WasCut(const trace::RecordedProcess& r) {
  struct stat now {};
  if (stat(r.path.c_str(), &now) != 0 || !S_ISREG(now.st_mode)) return false;
  if (static_cast<uint64_t>(now.st_size) < r.file_bytes ||
      FormatAt(r.path) != ProfileFormat::kTrace)
    return true;
  const auto file = File::OpenForReading(r.path);
  if (!file) return false;
  const off_t hole = lseek(file->fd(), 0, SEEK_HOLE);
  return hole >= 0 && hole < now.st_size;
}

// What became of the traces, with what can be seen only now.
std::vector<trace::RecordedProcess> Outcome(const trace::Recorder& recorder) {
  std::vector<trace::RecordedProcess> recorded = recorder.recorded();
  for (trace::RecordedProcess& one : recorded) {
    if (one.error || one.path.empty() || one.file_bytes == 0 || !WasCut(one)) continue;
    one.error = Error{ErrorCode::kIo,
                      "'" + Printable(one.path) + "' was cut or overwritten while it was written"};
    one.file_bytes = 0;
  }
  return recorded;
}

}  // namespace

void AddTraceRunOptions(Command sub, TraceRunOptions* options) {
  sub.Flag("--trace", &options->trace,
           "record every allocation and free instead of samples, into PROGRAM.PID.hgt or -o FILE");
  sub.Flag("--drop", &options->drop,
           "--trace: lose events, and count them, rather than let the program wait");
  sub.Add("--trace-buffer", &options->buffer,
          "--trace: memory for events that are not recorded yet, 1M to 256M (default 16M)")
      .NotEmpty();
  sub.Add("--cull-below", &options->cull_below,
          "--trace: leave out blocks that live shorter, for example 10ms")
      .NotEmpty();
  sub.Flag("--follow-fork", &options->follow_fork,
           "--trace: forked children too, each into a file of its own");
}

Status CheckWithoutTrace(const TraceRunOptions& options) {
  const char* given = options.drop                  ? "--drop"
                      : options.follow_fork         ? "--follow-fork"
                      : !options.buffer.empty()     ? "--trace-buffer"
                      : !options.cull_below.empty() ? "--cull-below"
                                                    : nullptr;
  if (given == nullptr || options.trace) return {};
  return Fail(ErrorCode::kInvalidArgument, std::string(given) + " goes with --trace");
}

int RunTraced(const TraceRun& run, LaunchSpec spec) {
  MakeHeapSteady();
  trace::RecorderOptions options;
  if (const Status status = Prepare(run, &spec, &options); !status) {
    return FailWith(status.error());
  }
  // Never destroyed: EndLike does not wait for threads. Static, so that they are no leaks.
  static leaks::ExactChecks* const checks =
      run.leaks.on ? MakeChecks(run.leaks).release() : nullptr;
  options.leaks = checks;
  static auto* const recorder = new trace::Recorder(std::move(options));
  const auto result = Launch(
      spec, trace::Recorder::kBeatPeriodNs, [&](pid_t) { recorder->Beat(); },
      [&](pid_t pid) {
        if (!recorder->Start(static_cast<uint32_t>(pid))) {
          FailWith("no thread can be made, so there will be no trace");
        }
      },
      [&](int wait_status) {
        recorder->ProgramEnded(WIFEXITED(wait_status));
        if (recorder->has_started()) WaitForRest(recorder, run.quiet);
      });
  if (!result) return FailWith(result.error());
  if (result->exec_errno != 0) {
    FailWith(SystemError("cannot run '" + Printable(spec.command[0]) + "'", result->exec_errno));
    return result->exec_errno == ENOENT ? kNotFound : kCannotExecute;
  }
  if (run.quiet && run.options.trace) {
    TellTraceErrors(spec, *result, run.directory, Outcome(*recorder));
  } else if (run.options.trace) {
    TellTraces(spec, *result, run.directory, Outcome(*recorder));
    if (!run.options.follow_fork) TellUnrecorded(recorder->unrecorded());
  }
  if (run.verbose) TellCost(recorder->recorded());
  if (checks != nullptr) {
    const int code = ShowLeaks(run.leaks, run.quiet, {spec, *result, run.directory}, checks);
    if (code != 0) std::exit(code);
  }
  EndLike(result->wait_status);
}

}  // namespace heapgauge::cli
