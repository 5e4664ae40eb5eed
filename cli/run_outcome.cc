#include "cli/run_outcome.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "cli/cli.h"
#include "cli/leak_check.h"
#include "core/base/encode.h"
#include "core/base/text.h"
#include "core/doctor/examine.h"
#include "core/gauge/gauge_directory.h"
#include "core/leaks/verdict/loss_records.h"
#include "core/os/process.h"
#include "core/report/value_text.h"

namespace heapgauge::cli {
namespace {

using figures::Bytes;
using figures::Counted;
using trace::RecordedProcess;

// Of the program itself: the last one in its process.
const RecordedProcess* MainOf(const std::vector<RecordedProcess>& recorded, pid_t pid) {
  const auto found = std::find_if(recorded.rbegin(), recorded.rend(), [&](const auto& one) {
    return one.pid == static_cast<uint32_t>(pid);
  });
  return found == recorded.rend() ? nullptr : &*found;
}

// Whether there is a file to look at: not if it went to /dev/null.
bool IsKept(const RecordedProcess& r) {
  struct stat file {};
  return stat(r.path.c_str(), &file) == 0 && S_ISREG(file.st_mode);
}

// Whose trace is worth a look: the program's own, unless another has more in it. That of a daemon
// does, whose parent only forked.
const RecordedProcess* MostRecorded(const std::vector<RecordedProcess>& recorded,
                                    const RecordedProcess* main) {
  const bool has_main = main != nullptr && main->file_bytes != 0 && IsKept(*main);
  const RecordedProcess* most = has_main ? main : nullptr;
  for (const RecordedProcess& one : recorded) {
    if (one.error || one.file_bytes == 0 || !IsKept(one)) continue;
    if (most == nullptr || one.totals.events > most->totals.events) most = &one;
  }
  return most;
}

void TellTotals(const RecordedProcess& r) {
  const auto& totals = r.totals;
  TellUser("heapgauge: peak {} at {}; {} never freed, in {}\n", Bytes(totals.peak_bytes),
           FormatDuration(totals.peak_ns), Bytes(totals.live_bytes),
           Counted(totals.live_blocks, "block"));
  if (r.facts.records_mappings) {
    TellUser("heapgauge: this is the heap; what it mapped: heapgauge top --kind mmap {}\n",
             ShellWord(r.path));
  }
  if (r.facts.culled_below_ns != 0) {
    TellUser("heapgauge: left out {}, {}, that lived less than {}\n",
             Counted(r.facts.culled_blocks, "block"), Bytes(r.facts.culled_bytes),
             FormatDuration(r.facts.culled_below_ns));
  }
}

// What the file system of the gauge files has left, if that is so little that they cannot grow.
std::string LittleRoom(const std::string& directory) {
  constexpr uint64_t kEnough = 16 << 20;  // for the buffers of a trace
  const std::vector<std::string> usual = GaugeDirectories();
  const std::string& place = directory.empty() && !usual.empty() ? usual.front() : directory;
  struct statvfs system {};
  if (statvfs(place.c_str(), &system) != 0) return "";
  const uint64_t free = uint64_t{system.f_bavail} * system.f_frsize;
  if (free >= kEnough) return "";
  return fmt::format(
      ", whose file system is full or too small: '{}' has room for {}; --dir names another place",
      Printable(place), Bytes(free));
}

std::string LostText(const trace::Facts& facts, const std::string& directory) {
  const bool one = facts.lost_events == 1;
  return fmt::format("{} {} lost: there was no room for {} in the gauge file{}",
                     Counted(facts.lost_events, "event"), one ? "was" : "were", one ? "it" : "them",
                     facts.recording.lacked_descriptors
                         ? ", which could not grow because the program had no file descriptor left "
                           "(ulimit -n)"
                         : LittleRoom(directory));
}

const char* WhyUntraced(const RecordedProcess& r) {
  return r.gave_up ? "the recorder was held up for seconds"
                   : "the program's seccomp filter forbids what tracing needs";
}

// Nothing was ever written.
bool HasNoTrace(const RecordedProcess& r) { return r.error && r.file_bytes == 0; }

void TellTroubles(const RecordedProcess& r, const std::string& directory) {
  const trace::Facts& facts = r.facts;
  if (facts.lost_events != 0) {
    TellUser("heapgauge: {}\n", LostText(facts, directory));
  }
  if (facts.waits != 0) {
    TellUser("heapgauge: threads waited {} for the recorder, {} in all\n",
             Counted(facts.waits, "time"), FormatDuration(facts.waited_ns));
  }
  if (facts.untraced_from_ns != 0) {
    TellUser("heapgauge: the trace ends early, at {}: {}, and the program went on without it\n",
             FormatDuration(facts.untraced_from_ns), WhyUntraced(r));
  }
  if (r.damaged != 0) {
    TellUser("heapgauge: {} of buffers made no sense and {} left out\n", Counted(r.damaged, "part"),
             r.damaged == 1 ? "was" : "were");
  }
  if (r.error && !HasNoTrace(r)) {
    TellUser("heapgauge: the trace is not complete: {}\n", r.error->message);
  }
}

void TellNoTrace(const LaunchSpec& spec, const LaunchResult& result, const std::string& directory) {
  std::string why = WhyNoGauge(spec.command, directory);
  if (why.empty()) why = "the agent could make no file; heapgauge doctor tells more";
  TellUser("heapgauge: {} (pid {}) {}; there is no trace: {}\n",
           Printable(BaseName(spec.command[0])), result.pid, HowItEnded(result.wait_status), why);
}

// Why the agent saw no call of a program that it was in: in the words of a plain `run`.
std::string WhyNoEvents(const LaunchSpec& spec, const RecordedProcess& r) {
  if (r.totals.events != 0 || r.error) return "";
  const std::string& program = r.facts.recording.program;
  return WhyNoSamples(program.empty() ? spec.command : std::vector<std::string>{program});
}

}  // namespace

void TellTraceErrors(const LaunchSpec& spec, const LaunchResult& result,
                     const std::string& directory, const std::vector<RecordedProcess>& recorded) {
  const RecordedProcess* const main = MainOf(recorded, result.pid);
  if (main == nullptr) {
    TellNoTrace(spec, result, directory);
  } else if (const std::string why = WhyNoEvents(spec, *main); !why.empty()) {
    TellUser("heapgauge: the trace of {} (pid {}) is empty: {}\n",
             Printable(main->facts.recording.name()), main->pid, why);
  }
  for (const RecordedProcess& one : recorded) {
    const bool is_untraced = one.facts.untraced_from_ns != 0;
    if (!one.error && !is_untraced && one.facts.lost_events == 0) continue;
    TellUser("heapgauge: {} {} (pid {}){}: {}\n",
             HasNoTrace(one) ? "there is no trace of" : "the trace of",
             Printable(one.facts.recording.name()), one.pid,
             HasNoTrace(one) ? "" : " is not complete",
             one.error     ? one.error->message
             : is_untraced ? WhyUntraced(one)
                           : LostText(one.facts, directory));
  }
}

void TellTraces(const LaunchSpec& spec, const LaunchResult& result, const std::string& directory,
                const std::vector<RecordedProcess>& recorded) {
  const RecordedProcess* const main = MainOf(recorded, result.pid);
  if (main == nullptr) {
    TellNoTrace(spec, result, directory);
  } else {
    const std::string how = HowItEnded(result.wait_status);
    const RecordingFacts& recording = main->facts.recording;
    const uint64_t events = main->totals.events;
    TellUser("heapgauge: {} (pid {}) {} after {}; {}", recording.name(), result.pid, how,
             FormatDuration(RunningTime(result, recording)),
             HasNoTrace(*main)
                 ? "there is no trace: " + main->error->message
                 : Counted(events, "event") + ", " + Counted(main->totals.blocks, "block"));
    if (main->file_bytes != 0 && events != 0 && !main->error) {
      TellUser("; {} on disk, {:.1f} bytes per event", Bytes(main->file_bytes),
               static_cast<double>(main->file_bytes) / static_cast<double>(events));
    }
    TellUser("\n");
    if (events != 0) TellTotals(*main);
    if (const std::string why = WhyNoEvents(spec, *main); !why.empty()) {
      TellUser("heapgauge: {}\n", why);
    }
    if (const std::string unseen = UnseenEnd(result, main->said_goodbye); !unseen.empty()) {
      TellUser("heapgauge: {}\n", unseen);
    }
    TellTroubles(*main, directory);
  }
  size_t told = 0;
  for (const RecordedProcess& other : recorded) {
    if (&other == main) continue;
    constexpr size_t kMost = 5;
    if (++told > kMost) continue;
    TellUser("heapgauge: {} (pid {}): {}: {}\n", other.facts.recording.name(), other.pid,
             Counted(other.totals.events, "event"),
             other.error ? other.error->message : Printable(other.path));
  }
  if (told > 5) TellUser("heapgauge: and {} more\n", told - 5);
  if (const RecordedProcess* const most = MostRecorded(recorded, main); most != nullptr) {
    TellUser("heapgauge: look at it with: heapgauge top {}\n", ShellWord(most->path));
  }
}

void TellUnrecorded(size_t count) {
  if (count == 0) return;
  TellUser("heapgauge: {} that it forked {} on and {} not recorded: --follow-fork does that too\n",
           count == 1 ? "a process" : fmt::format("{} processes", count),
           count == 1 ? "goes" : "go", count == 1 ? "is" : "are");
}

void TellCost(const std::vector<RecordedProcess>& recorded) {
  uint64_t events = 0;
  for (const RecordedProcess& one : recorded) events += one.totals.events;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  const double cpu = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  TellUser("heapgauge: the recorder used {:.2f} s of CPU, {:.1f} ns per event; at most {}\n", cpu,
           events == 0 ? 0.0 : cpu * 1e9 / static_cast<double>(events),
           Bytes(static_cast<uint64_t>(usage.ru_maxrss) * 1024));
}

namespace {

// As a program may print it among its own lines.
std::string ScopeText(const LeakRunOptions& options, leaks::Check check) {
  auto setup = ReadLeakOptions(options.how);
  if (!setup) return "";
  NameLocations(options.how.report.symbols, &check.known.profile, nullptr);
  const leaks::LossRecords losses =
      leaks::MakeLossRecords(check, {setup->resolution, &setup->suppressions});
  LeaksSubject subject;
  subject.check = &check;
  subject.losses = &losses;
  subject.suppressions = &setup->suppressions;
  setup->report.layout = {};
  return LeaksText(subject, setup->report).text();
}

// Of a program that was never heard of.
leaks::Check NothingKnown(const CheckedProgram& program) {
  leaks::Check check;
  check.pid = static_cast<uint32_t>(program.result.pid);
  check.executable = program.spec.command[0];
  check.command_line = Join(program.spec.command);
  check.unix_ns = RealtimeNow();
  check.at_exit = true;
  std::string why = WhyNoGauge(program.spec.command, program.directory);
  if (why.empty()) why = "nothing could be recorded of it; heapgauge doctor tells more";
  check.notes.push_back("it was not checked: " + why);
  return check;
}

// A program without a single call, of which there is a reason to think that it made them past the
// agent: that it has no block is no verdict. Its own malloc, say, is inside.
void DoubtIfUnseen(const CheckedProgram& program, leaks::Check* check) {
  if (check->allocations != 0 || check->frees != 0 || !check->known.blocks.empty()) return;
  const std::string why =
      WhyNoSamples(check->executable.empty() ? program.spec.command
                                             : std::vector<std::string>{check->executable});
  if (why.empty()) return;
  check->look = leaks::Look::kNone;
  check->verdicts.clear();
  check->notes = {why};
}

// Whether a program that the first one started left by itself without a verdict.
bool LeftUnchecked(const leaks::Check& check) {
  return check.look == leaks::Look::kNone &&
         check.known.profile.recording.state == RecordingState::kEnded;
}

void TellUnchecked(const leaks::Check& check, const std::string& how_it_ended) {
  TellUser("heapgauge: {} (pid {}){}; it was not checked: {}\n",
           Printable(BaseName(check.executable)), check.pid, how_it_ended,
           check.notes.empty() ? "why is not known" : Printable(check.notes.back()));
}

}  // namespace

void AddLeakRunOptions(Command sub, LeakRunOptions* options) {
  const std::string group = "Leaks";
  options->how.error_exitcode = 0;
  sub.Flag("--leaks", &options->on,
           "check for leaks when the program ends, as memcheck does: every block is known; -o FILE "
           "is the report's")
      .InGroup(group);
  sub.Add("--freeres", &options->freeres,
          "let the C and C++ libraries free their own blocks before the check: auto (libc's unless "
          "other threads still run), always (as memcheck), never")
      .OneOf({"auto", "always", "never"})
      .InGroup(group);
  sub.Flag("--no-freeres", &options->no_freeres, "the same as --freeres never").InGroup(group);
  AddLeakOptions(sub, &options->how);
  ReportOptions* report = &options->how.report;
  sub.Add("-n,--limit", &options->how.limit,
          "records to show, the largest; 20 by default, 0 all; with --valgrind-style all")
      .InGroup(group);
  sub.Add("--frames", &options->how.frames, "frames of a stack to show; 12 by default, 0 all")
      .InGroup(group);
  sub.Flag("--json", &report->json, "the report as JSON, with all records").InGroup(group);
  sub.Flag("--sarif", &options->how.sarif, "the report as SARIF 2.1.0, for code review tools")
      .InGroup(group);
  sub.Flag("--valgrind-style", &options->how.valgrind_style,
           "the report line by line as memcheck prints it, with ==PID== in front")
      .InGroup(group);
}

Status CheckLeakRun(LeakRunOptions* run) {
  const LeakOptions usual;
  const LeakRunOptions& options = *run;
  const LeakOptions& how = options.how;
  const char* given = options.no_freeres                   ? "--no-freeres"
                      : options.freeres != "auto"          ? "--freeres"
                      : how.report.json                    ? "--json"
                      : how.sarif                          ? "--sarif"
                      : how.valgrind_style                 ? "--valgrind-style"
                      : how.error_exitcode != 0            ? "--error-exitcode"
                      : !how.error_kinds.empty()           ? "--errors-for-leak-kinds"
                      : !how.suppressions.empty()          ? "--suppressions"
                      : !how.since.empty()                 ? "--since"
                      : how.show_kinds != usual.show_kinds ? "--show-leak-kinds"
                      : how.generate != usual.generate     ? "--gen-suppressions"
                      : how.heuristics != usual.heuristics ? "--heuristics"
                      : how.resolution != usual.resolution ? "--leak-resolution"
                      : how.only_new                       ? "--new"
                      : how.increased                      ? "--increased"
                      : how.changed                        ? "--changed"
                      : how.limit != usual.limit           ? "--limit"
                      : how.frames != usual.frames         ? "--frames"
                                                           : nullptr;
  if (given != nullptr && !options.on) {
    return Fail(ErrorCode::kInvalidArgument, std::string(given) + " goes with --leaks");
  }
  if (!options.on) return {};
  auto setup = ReadLeakOptions(options.how);
  if (!setup) return tl::unexpected<Error>(setup.error());
  run->how.read_suppressions =
      std::make_shared<const leaks::Suppressions>(std::move(setup->suppressions));
  return {};
}

std::unique_ptr<leaks::ExactChecks> MakeChecks(const LeakRunOptions& options) {
  leaks::ExactCheckOptions how;
  if (const auto setup = ReadLeakOptions(options.how)) how.heuristics = setup->heuristics;
  how.scope_report = [options](const leaks::Check& check) { return ScopeText(options, check); };
  return std::make_unique<leaks::ExactChecks>(std::move(how));
}

int ShowLeaks(const LeakRunOptions& options, bool quiet, const CheckedProgram& program,
              leaks::ExactChecks* checks) {
  const auto pid = static_cast<uint32_t>(program.result.pid);
  std::vector<leaks::Check>& all = checks->checks();
  std::stable_sort(all.begin(), all.end(), [pid](const leaks::Check& a, const leaks::Check& b) {
    return (a.pid == pid) < (b.pid == pid);
  });
  for (leaks::Check& check : all) DoubtIfUnseen(program, &check);
  LeakOptions how = options.how;
  if (how.report.output.empty() && quiet) how.report.output = "/dev/null";
  const std::string output = how.report.output;
  std::fflush(stdout);
  how.report.beside = output.empty();
  how.report.quiet = quiet;
  int code = 0;
  const bool known = !all.empty() && all.back().pid == pid;
  const bool checked = known && all.back().look != leaks::Look::kNone;
  if (!known) {
    leaks::Check nothing = NothingKnown(program);
    TellUser("heapgauge: {} (pid {}) {}; {}\n", Printable(BaseName(program.spec.command[0])), pid,
             HowItEnded(program.result.wait_status), nothing.notes.front());
    const bool text = !how.report.json && !how.sarif && !how.valgrind_style;
    if (!how.report.beside || !text) all.push_back(std::move(nothing));
  }
  bool others_checked = true;
  for (const leaks::Check& check : all) {
    const bool own = check.pid == pid;
    if (!own && LeftUnchecked(check)) others_checked = false;
    if (!known && own) continue;  // has been told
    // Where the report itself is not seen.
    if (check.look == leaks::Look::kNone && (quiet || !output.empty())) {
      TellUnchecked(check, own ? " " + HowItEnded(program.result.wait_status) : "");
    }
  }
  for (leaks::Check& check : all) {
    how.report.output = output.empty() || check.pid == pid || output == "/dev/null"
                            ? output
                            : output + "." + std::to_string(check.pid);
    auto setup = ReadLeakOptions(how);  // now that it is known where it goes
    if (!setup) return FailWith(setup.error());
    code = std::max(code, ShowCheck(std::move(check), *std::move(setup), how));
  }
  // Whoever wants to know of leaks by the exit code must not take this one for clean.
  const int status = program.result.wait_status;
  const bool ended_well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  return code == 0 && !(checked && others_checked) && ended_well ? how.error_exitcode : code;
}

}  // namespace heapgauge::cli
