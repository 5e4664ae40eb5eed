// stats: the figures of a whole trace, in sections.

#include <algorithm>

#include "cli/report_source.h"
#include "cli/trace_subject.h"
#include "core/base/text.h"
#include "core/recording/recording.h"
#include "core/report/views/lifetimes.h"
#include "core/report/views/stats.h"
#include "core/trace/answer/stats.h"
#include "core/trace/answer/trace_moment.h"

namespace heapgauge::cli {
namespace {

struct StatsCommand {
  ReportOptions report;
  std::string source;
  std::string by = "function";
  std::vector<std::string> sections;
  std::vector<std::string> moments;
  uint32_t churn = 0;
  std::string large = "128K";
  std::string briefly = "10ms";
  std::string page = "4K";
};

Result<trace::StatsRequest> RequestOf(const StatsCommand& command) {
  trace::StatsRequest request;
  request.temporary_within = command.churn;
  HG_ASSIGN(request.large_bytes, SizeOption("--large", command.large));
  const auto briefly = trace::ParseDuration(command.briefly);
  if (!briefly) return Fail(ErrorCode::kInvalidArgument, "--short: " + briefly.error().message);
  request.short_ns = *briefly;
  HG_ASSIGN(request.pin_unit, SizeOption("--page", command.page));
  constexpr uint64_t kLeast = 64;
  constexpr uint64_t kMost = 1 << 30;
  const uint64_t unit = request.pin_unit;
  if (unit < kLeast || unit > kMost || (unit & (unit - 1)) != 0) {
    return Fail(ErrorCode::kInvalidArgument,
                "--page: '" + Printable(command.page) + "' is not a power of two from 64 to 1G");
  }
  if (!command.moments.empty()) request.moments = command.moments;
  const auto asked = [&](const char* section) {
    return command.sections.empty() || std::find(command.sections.begin(), command.sections.end(),
                                                 section) != command.sections.end();
  };
  const bool only_pages =
      !command.sections.empty() && std::all_of(command.sections.begin(), command.sections.end(),
                                               [](const std::string& s) { return s == "pages"; });
  request.wants_counts = !only_pages;
  request.wants_chains = asked("realloc");
  if (!asked("pages") && !asked("slack")) request.moments.clear();
  return request;
}

int OfTrace(const StatsCommand& command, SelectedTrace opened, ProgressSink* progress) {
  const ReportOptions& options = command.report;
  auto request = RequestOf(command);
  if (!request) return FailWith(request.error());
  const trace::BlockGroups groups(opened.stacks, trace::GroupByOf(command.by),
                                  opened.trace->threads().size());
  if (opened.matcher) request->matcher = &*opened.matcher;
  const auto stats = trace::ReadStats(*opened.trace, groups, *request, progress);
  if (!stats) return FailWith(stats.error());
  TraceSubject subject;
  subject.trace = opened.trace.get();
  subject.stacks = &opened.stacks;
  subject.groups = &groups;
  subject.filter = opened.filter.Text();
  subject.notes = std::move(opened.notes);
  StatsOptions text;
  text.layout = Target(options).layout();
  text.names = options.names;
  text.sections = command.sections;
  text.rows = options.RowsOr(text.rows);
  if (options.json) return Deliver(options, StatsJson(subject, *stats, *request, text));
  return Deliver(options, StatsText(subject, *stats, *request, text));
}

int OfSamples(const StatsCommand& command, Recording* recording) {
  const ReportOptions& options = command.report;
  return ReportSamples(recording, options, Granularity::kFunctions,
                       [&](const SampledSubject& subject, const LiveSamplesOptions& text) {
                         return options.json ? Deliver(options, LiveSamplesJson(subject, text))
                                             : Deliver(options, SampledStatsText(subject, text));
                       });
}

int Stats(const StatsCommand& command) {
  return ReportBlocks(
      command.source, command.report,
      [&](SelectedTrace opened, ProgressSink* progress) {
        return OfTrace(command, std::move(opened), progress);
      },
      [&](Recording* recording) { return OfSamples(command, recording); });
}

void DescribeStats(Command sub, Action* action) {
  auto command = std::make_shared<StatsCommand>();
  ReportOptions* options = &command->report;
  sub.Footer(R"(
Sections, of which --section prints one (it may be given several times):

  totals     allocations, frees, peak, what was never freed
  rates      allocations and bytes per second, the busiest second, the course of both
  sizes      by powers of two, and the most frequent exact sizes
  calls      malloc, new, realloc, ...
  threads    what each allocated and freed, and how many blocks of others it freed
  slack      what the allocator gave beyond what was asked for
  realloc    buffers that grow: how often, by what factor, how many bytes were copied
  churn      functions whose blocks are gone before the next allocation (--churn N: within N more)
  alignment  that was asked for
  large      large blocks that live shortly (--large, --short)
  pages      how the live blocks lie over memory, and who keeps pages that are nearly empty (--at, --page)

A sampled profile knows sizes, ages and threads of live blocks; docs/stats.md tells more.

Examples:
  heapgauge run --trace -o app.hgt -- ./app
  heapgauge stats app.hgt
  heapgauge stats --section realloc -n 30 app.hgt
  heapgauge stats --section pages --at 12.5s --at end --page 64K --by stack app.hgt
  heapgauge stats --section churn --churn 10 app.hgt
  heapgauge stats --thread worker --from 10s --json app.hgt)");
  sub.Add("SOURCE", &command->source, "trace (.hgt), gauge file, PID or profile").Required();
  sub.Add("--section", &command->sections, "print this section (may be given several times)")
      .OneEachTime()
      .OneOf(StatsSections());
  sub.Add("--by", &command->by, "tables by function, stack, module or thread")
      .OneOf({"function", "stack", "module", "thread"});
  sub.Add("-n,--rows", &options->rows, "rows of each table, 0 for all").NonNegative();
  sub.Add("--at", &command->moments,
          "moment for the pages: peak, end, 12.3s, 40% (may be given several times)")
      .OneEachTime();
  sub.Add("--page", &command->page, "size of the ranges that blocks pin; 4K by default");
  sub.Add("--churn", &command->churn, "a block is temporary if freed within so many allocations");
  sub.Add("--large", &command->large, "a block is large from this size on; 128K by default");
  sub.Add("--short", &command->briefly, "a large block lives shortly below this; 10ms by default");
  sub.Flag("--json", &options->json, "as JSON, with all figures");
  AddBlockReportOptions(sub, options);
  sub.OnChosen([=] { *action = [=] { return Stats(*command); }; });
}

}  // namespace

const CommandEntry kStatsCommand = {
    "stats", "figures of a whole trace: rates, sizes, threads, waste, pages", DescribeStats};

}  // namespace heapgauge::cli
