#include "cli/leak_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/cli.h"
#include "cli/progress_line.h"
#include "cli/report_options.h"
#include "cli/report_source.h"
#include "core/leaks/scan/data_symbols.h"
#include "core/leaks/verdict/suppressions.h"
#include "core/leaks/verdict/suspects.h"
#include "core/report/views/leak_owners.h"

namespace heapgauge::cli {
namespace {

tl::unexpected<Error> Wrong(const char* option, const Error& error) {
  return Fail(error.code, std::string(option) + ": " + error.message);
}

}  // namespace

void AddLeakOptions(Command sub, LeakOptions* options) {
  const std::string group = "Leaks";
  sub.Add("--show-leak-kinds", &options->show_kinds,
          "kinds to show one by one: definite, indirect, possible, reachable with commas between, "
          "all, none; by default definite, and possible where all blocks are known")
      .InGroup(group);
  sub.Add("--errors-for-leak-kinds", &options->error_kinds,
          "kinds that are errors; the same by default")
      .InGroup(group);
  sub.Add("--error-exitcode", &options->error_exitcode,
          fmt::format("exit with this code if there are errors; {} by default, 0 for never",
                      options->error_exitcode))
      .Between(0, 255)
      .InGroup(group);
  sub.Add("--leak-resolution", &options->resolution,
          "stacks are one if this many inner frames are the same: low (2), med (4), high (all)")
      .OneOf({"low", "med", "high"})
      .InGroup(group);
  sub.Add("--heuristics,--leak-check-heuristics", &options->heuristics,
          "pointers into blocks that count as good ones: stdstring, length64, newarray, "
          "multipleinheritance, all, none")
      .InGroup(group);
  sub.Add("--suppressions", &options->suppressions,
          "file of leaks to live with, in Valgrind's syntax or LeakSanitizer's (may be given "
          "several times)")
      .OneEachTime()
      .InGroup(group);
  sub.Add("--gen-suppressions", &options->generate,
          "write suppressions for the records, and the report to standard error: no, all "
          "(Valgrind's syntax), lsan")
      .OneOf({"no", "all", "yes", "lsan"})
      .InGroup(group);
  sub.Add("--since", &options->since, "JSON of an earlier check: show what changed since")
      .InGroup(group);
  const Option only_new =
      sub.Flag("--new", &options->only_new, "only records that were not there then").InGroup(group);
  const Option increased =
      sub.Flag("--increased", &options->increased, "only records that are new or grew")
          .InGroup(group)
          .Excludes(only_new);
  sub.Flag("--changed", &options->changed, "only records that are new, grew or shrank")
      .InGroup(group)
      .Excludes(only_new)
      .Excludes(increased);
}

void AddLeakOutputOptions(Command sub, LeakOptions* options) {
  ReportOptions* report = &options->report;
  sub.Add("-n,--limit", &options->limit,
          "records to show, the largest; 20 by default, 0 all; with --valgrind-style all");
  sub.Add("--frames", &options->frames, "frames of a stack to show; 12 by default, 0 all");
  sub.Flag("--json", &report->json, "as JSON, with all records");
  sub.Flag("--sarif", &options->sarif, "as SARIF 2.1.0, for code review tools");
  sub.Flag("--xtree", &options->xtree,
           "as a callgrind file for kcachegrind, as memcheck's --xtree-leak");
  sub.Flag("--valgrind-style", &options->valgrind_style,
           "line by line as memcheck prints it, with ==PID== in front");
  sub.Add("-o,--output", &report->output, "write to this file").NotEmpty();
  AddViewOption(sub, report, "names", "short (templates and parameters folded) or whole");
  sub.Add("--color", &report->colour, "auto, always or never").OneOf({"auto", "always", "never"});
  AddSymbolOptions(sub, &report->symbols);
}

Result<LeakSetup> ReadLeakOptions(const LeakOptions& options) {
  LeakSetup setup;
  if (!options.show_kinds.empty()) {
    const auto shown = leaks::ParseKinds(options.show_kinds);
    if (!shown) return Wrong("--show-leak-kinds", shown.error());
    setup.report.show_kinds = *shown;
  }
  if (!options.error_kinds.empty()) {
    const auto errors = leaks::ParseKinds(options.error_kinds);
    if (!errors) return Wrong("--errors-for-leak-kinds", errors.error());
    setup.report.error_kinds = *errors;
  }
  const auto heuristics = leaks::ParseHeuristics(options.heuristics);
  if (!heuristics) return Wrong("--heuristics", heuristics.error());
  setup.heuristics = *heuristics;
  setup.resolution = options.resolution == "low"   ? leaks::Resolution::kLow
                     : options.resolution == "med" ? leaks::Resolution::kMedium
                                                   : leaks::Resolution::kHigh;
  if (options.read_suppressions != nullptr) {
    setup.suppressions = *options.read_suppressions;
  } else {
    for (const std::string& path : options.suppressions) HG_TRY(setup.suppressions.AddFile(path));
  }
  const bool filtered = options.only_new || options.increased || options.changed;
  if (!options.since.empty()) {
    HG_ASSIGN(setup.earlier, leaks::ReadEarlierCheck(options.since));
  } else if (filtered) {
    return Fail(ErrorCode::kInvalidArgument,
                "--new, --increased and --changed need --since FILE, the JSON of an earlier check "
                "(heapgauge leaks --json -o FILE)");
  }
  const char* const form = options.report.json ? "--json"
                           : options.sarif     ? "--sarif"
                           : options.xtree     ? "--xtree"
                                               : nullptr;
  if (options.report.json + options.sarif + options.xtree > 1) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("{} and {} do not go together; ask for one at a time", form,
                            options.xtree ? "--xtree" : "--sarif"));
  }
  if (form != nullptr && options.valgrind_style) {
    return Fail(ErrorCode::kInvalidArgument,
                std::string("--valgrind-style does not go with ") + form);
  }
  if (form != nullptr && options.generate != "no") {
    return Fail(ErrorCode::kInvalidArgument,
                std::string("--gen-suppressions does not go with ") + form);
  }
  setup.report.filter = options.only_new    ? LeakFilter::kNew
                        : options.increased ? LeakFilter::kIncreased
                        : options.changed   ? LeakFilter::kChanged
                                            : LeakFilter::kAll;
  setup.report.generate = options.generate == "lsan" ? GeneratedSuppressions::kLsan
                          : options.generate == "no" ? GeneratedSuppressions::kNo
                                                     : GeneratedSuppressions::kValgrind;
  setup.report.limit = options.limit != LeakOptions::kUsualLimit ? options.limit
                       : options.valgrind_style                  ? 0
                                                                 : 20;
  setup.report.frames = options.frames;
  setup.report.valgrind_style = options.valgrind_style;
  setup.report.layout = Target(options.report).layout();
  setup.report.names = options.report.names;
  setup.report.version = Version();
  return setup;
}

namespace {

void AddNotes(const std::vector<std::string>& notes, std::vector<std::string>* all) {
  for (const std::string& note : notes) {
    if (std::find(all->begin(), all->end(), note) == all->end()) all->push_back(note);
  }
}

void NameStacks(const LeakOptions& options, leaks::Check* check) {
  ProgressSink* progress = options.report.quiet ? nullptr : BeginProgress();
  AddNotes(check->known.profile.notes, &check->notes);
  AddNotes(NameLocations(options.report.symbols, &check->known.profile, progress).notes,
           &check->notes);
}

}  // namespace

int ShowOwners(leaks::Check check, LeakSetup setup, const LeakOptions& options,
               const leaks::PointersTo& pointers) {
  NameStacks(options, &check);
  const leaks::LossRecords losses =
      leaks::MakeLossRecords(check, {setup.resolution, &setup.suppressions});
  LeaksSubject subject;
  subject.check = &check;
  subject.losses = &losses;
  SymbolizeOptions symbolize;
  symbolize.extra_debug_dirs = options.report.symbols.debug_paths;
  symbolize.pid = check.pid;
  leaks::DataSymbols symbols(check.roots, symbolize);
  auto owners = FindLeakOwners(subject, options.who_points_at, setup.report.limit, &symbols);
  if (!owners) return FailWith(owners.error());
  for (const leaks::PointerTo& pointer : pointers.pointers) {
    owners->front().pointers.push_back(DescribePlace(check, pointer.place, &symbols));
  }
  owners->front().pointer_count = pointers.count;
  if (options.report.json) return Deliver(options.report, LeakOwnersJson(subject, *owners));
  return Deliver(options.report,
                 LeakOwnersText(subject, setup.report, options.who_points_at, *owners));
}

int ShowCheck(leaks::Check check, LeakSetup setup, const LeakOptions& options) {
  LeaksSubject subject;
  NameStacks(options, &check);
  // Of samples, that only memory of unknown blocks points to one is no news.
  const uint32_t kinds = leaks::Bit(leaks::Kind::kDefinite) |
                         (check.known.exact ? leaks::Bit(leaks::Kind::kPossible) : 0);
  if (options.show_kinds.empty()) setup.report.show_kinds = kinds;
  if (options.error_kinds.empty()) setup.report.error_kinds = kinds;
  const leaks::LossRecords losses =
      leaks::MakeLossRecords(check, {setup.resolution, &setup.suppressions});
  leaks::Changes changes;
  subject.check = &check;
  subject.losses = &losses;
  subject.suppressions = &setup.suppressions;
  if (setup.earlier) {
    changes = leaks::CompareChecks(check, losses, *setup.earlier);
    subject.changes = &changes;
  }
  leaks::Suspects suspects;
  if (!check.at_exit) {
    suspects = leaks::FindSuspects(check);
    if (setup.dumps) leaks::AddDumpEvidence(*setup.dumps, check, &suspects);
    subject.suspects = &suspects;
  }
  int written = kDone;
  if (options.report.json) {
    written = DeliverBy(options.report,
                        [&](TextSink* out) { return WriteLeaksJson(subject, setup.report, out); });
  } else if (options.xtree) {
    written =
        DeliverBy(options.report, [&](TextSink* out) { return WriteLeaksXtree(subject, out); });
  } else if (options.sarif) {
    written = Deliver(options.report, LeaksSarif(subject, setup.report));
  } else if (setup.report.generate != GeneratedSuppressions::kNo && !options.valgrind_style &&
             !options.report.beside) {
    // They are for a file that is read again, so the report must not be in it.
    const std::string suppressions = LeakSuppressionsText(subject, setup.report);
    if (!options.report.quiet) {
      ReportOptions beside = options.report;
      beside.output.clear();
      beside.beside = true;
      setup.report.layout = Target(beside).layout();
      setup.report.generate = GeneratedSuppressions::kNo;
      Deliver(beside, LeaksText(subject, setup.report));
    }
    written = Deliver(options.report, suppressions);
  } else {
    written = Deliver(options.report, LeaksText(subject, setup.report));
  }
  if (written != kDone) return written;
  return CountLeakErrors(subject, setup.report).records != 0 ? options.error_exitcode : kDone;
}

}  // namespace heapgauge::cli
