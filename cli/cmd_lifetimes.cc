// lifetimes: how long blocks live, by size and by who allocates them.

#include "cli/report_source.h"
#include "cli/trace_subject.h"
#include "core/recording/recording.h"
#include "core/report/views/lifetimes.h"
#include "core/trace/answer/lifetimes.h"

namespace heapgauge::cli {
namespace {

struct LifetimesCommand {
  ReportOptions report;
  std::string source;
  std::string by = "function";
  std::string sort;
  bool bytes = false;
};

size_t RowsOf(const LifetimesCommand& command) { return command.report.RowsOr(20); }

int OfTrace(const LifetimesCommand& command, SelectedTrace opened, ProgressSink* progress) {
  const ReportOptions& options = command.report;
  const trace::BlockGroups groups(opened.stacks, trace::GroupByOf(command.by),
                                  opened.trace->threads().size());
  trace::LifetimeRequest request;
  if (opened.matcher) request.matcher = &*opened.matcher;
  request.rows = RowsOf(command);
  request.sort = trace::LifetimeSortOf(command.sort.empty() ? (command.bytes ? "bytes" : "blocks")
                                                            : command.sort);
  const auto report = trace::ReadLifetimes(*opened.trace, groups, request, progress);
  if (!report) return FailWith(report.error());
  TraceSubject subject;
  subject.trace = opened.trace.get();
  subject.stacks = &opened.stacks;
  subject.groups = &groups;
  subject.filter = opened.filter.Text();
  subject.notes = std::move(opened.notes);
  if (options.json) return Deliver(options, LifetimesJson(subject, *report));
  if (options.csv) return Deliver(options, LifetimesCsv(subject, *report));
  LifetimeOptions text;
  text.layout = Target(options).layout();
  text.names = options.names;
  text.bytes = command.bytes;
  return Deliver(options, LifetimesText(subject, *report, text));
}

int OfSamples(const LifetimesCommand& command, Recording* recording) {
  if (command.by == "stack" || command.by == "thread") {
    return FailWith("--by " + command.by + ": sampled profiles go by function or module");
  }
  const ReportOptions& options = command.report;
  return ReportSamples(recording, options,
                       command.by == "module" ? Granularity::kModules : Granularity::kFunctions,
                       [&](const SampledSubject& subject, LiveSamplesOptions text) {
                         text.rows = RowsOf(command);
                         if (options.json) return Deliver(options, LiveSamplesJson(subject, text));
                         if (options.csv) return Deliver(options, AgesCsv(subject, text));
                         return Deliver(options, AgesText(subject, text));
                       });
}

int Lifetimes(const LifetimesCommand& command) {
  return ReportBlocks(
      command.source, command.report,
      [&](SelectedTrace opened, ProgressSink* progress) {
        return OfTrace(command, std::move(opened), progress);
      },
      [&](Recording* recording) { return OfSamples(command, recording); });
}

void DescribeLifetimes(Command sub, Action* action) {
  auto command = std::make_shared<LifetimesCommand>();
  ReportOptions* options = &command->report;
  sub.Footer(R"(
A map of all blocks of a trace: a row for each size, a column for each step of lifetimes, the last one for
blocks that were never freed. Then the functions that allocated the most blocks, each with the mean, median
and 99th percentile of its blocks' lifetimes and a histogram in one word: from below a microsecond on the
left to never freed on the right. What to look for:

  much at the left     blocks that are gone at once: reuse a buffer, or use the stack
  much in the last     what is never freed: a leak, or a cache
  two hills            one function for two purposes; --by stack tells them apart

--from and --to choose blocks that were allocated between. A sampled profile knows only live blocks: of
these it shows the ages. docs/lifetimes.md tells more.

Examples:
  heapgauge run --trace -o app.hgt -- ./app
  heapgauge lifetimes app.hgt
  heapgauge lifetimes --by stack --sort never -n 40 app.hgt
  heapgauge lifetimes --min-size 1M --max-lifetime 10ms app.hgt    large blocks that live shortly
  heapgauge lifetimes --from 10s --to 20s --thread worker app.hgt
  heapgauge lifetimes --csv app.hgt > lifetimes.csv
  heapgauge lifetimes 4242                                         ages of what is live now)");
  sub.Add("SOURCE", &command->source, "trace (.hgt), gauge file, PID or profile").Required();
  sub.Add("--by", &command->by, "function, stack, module or thread")
      .OneOf({"function", "stack", "module", "thread"});
  sub.Add("--sort", &command->sort,
          "by blocks, bytes, never (bytes never freed), temporary (blocks) or lifetime (mean)")
      .OneOf({"blocks", "bytes", "never", "temporary", "lifetime"});
  sub.Flag("--bytes", &command->bytes, "rows and their histograms by bytes in place of blocks");
  sub.Add("-n,--rows", &options->rows, "rows to show, 0 for all").NonNegative();
  const Option json = sub.Flag("--json", &options->json, "as JSON, with all figures");
  sub.Flag("--csv", &options->csv, "as a table: a line for each row and step of lifetimes")
      .Excludes(json);
  AddBlockReportOptions(sub, options);
  sub.OnChosen([=] { *action = [=] { return Lifetimes(*command); }; });
}

}  // namespace

const CommandEntry kLifetimesCommand = {"lifetimes", "how long blocks live, by size and function",
                                        DescribeLifetimes};

}  // namespace heapgauge::cli
