#include "cli/leak_run.h"

#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "cli/cli.h"
#include "cli/leak_output.h"
#include "cli/tell_user.h"
#include "core/base/text.h"
#include "core/doctor/examine.h"
#include "core/leaks/verdict/loss_records.h"
#include "core/os/process.h"

namespace heapgauge::cli {
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
  for (const std::string& argument : program.spec.command) {
    check.command_line += (check.command_line.empty() ? "" : " ") + argument;
  }
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
