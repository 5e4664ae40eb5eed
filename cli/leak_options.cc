#include "cli/leak_options.h"

#include <fmt/format.h>

#include "cli/cli.h"
#include "cli/report_source.h"
#include "core/leaks/verdict/leak_kinds.h"

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
  sub.Add("--names", &report->names, "short (templates and parameters folded) or whole")
      .OneOf({"short", "whole"});
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
  setup.report.names = NamesOf(options.report.names);
  setup.report.version = Version();
  return setup;
}

}  // namespace heapgauge::cli
