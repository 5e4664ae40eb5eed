// top: who holds the memory.

#include "cli/report_figures.h"
#include "cli/watch.h"
#include "core/recording/locate.h"
#include "core/report/views/top.h"

namespace heapgauge::cli {

int Top(const ReportOptions& options) {
  if (!options.watch.empty()) return Watch(options);
  auto sorted = LoadSorted(options);
  if (!sorted) return FailWith(sorted.error());
  Loaded* loaded = &sorted->loaded;
  if (loaded->profile.recording.state == RecordingState::kLive && !options.json && !options.csv &&
      options.sources.size() == 1) {
    if (const auto path = LocateFile(loaded->sources.front(), options.pick)) {
      loaded->profile.recording.memory = MemoryLineOf(*path);
    }
  }
  FunctionOptions functions;
  functions.filter = {options.focus, options.ignore};
  functions.sort = sorted->sort;
  functions.cumulative = options.cumulative;
  functions.granularity = GranularityOf(options.granularity);
  functions.flat_only = !options.cumulative && !options.json && !options.csv;
  const auto report = AggregateFunctions(loaded->profile, functions);
  if (!report) return FailWith(report.error());
  TopOptions top;
  top.rows = options.RowsOr(top.rows);
  top.layout = Target(options).layout();
  top.cumulative = options.cumulative;
  top.sort = functions.sort;
  top.names = NamesOf(options.names);
  if (options.csv) TellNotes(loaded->profile.notes);
  if (options.csv) return Deliver(options, TopCsv(loaded->profile, *report, top));
  return options.json ? Deliver(options, TopJson(loaded->profile, *report, loaded->notes, top))
                      : Deliver(options, TopText(loaded->profile, *report, loaded->notes, top));
}

namespace {

void DescribeTop(Command top, Action* action) {
  auto options = std::make_shared<ReportOptions>();
  DescribeReport(top, action, Top, R"(
Each row is a function that allocates, with what is live of it, the range that holds the true value
with 95 % probability, objects, everything it ever allocated, the mean age of its live bytes, and
the line that holds most.

Examples:
  heapgauge top 4242
  heapgauge top --watch 4242                        a live view with what grows
  heapgauge top --sort age -n 40 server.4242.hg     what has been there for longest
  heapgauge top --cum --focus 'Cache::' 4242        by caller, only stacks through Cache
  heapgauge top --lines --focus 'Cache::' 4242      which lines of it
  heapgauge top --peak 4242                         what it was when it was largest
  heapgauge top server.hgt@12.3s                    of a trace: what was live at that moment
  heapgauge top --from 5s --to 6s --value left server.hgt   what that second left behind)",
                 options);
  const Option json = AddTable(top, options.get());
  AddGranularity(top, options.get());
  AddCsv(top, json, options.get());
  top.Flag("--cum", &options->cumulative, "figures of a function include what it calls");
  top.Flag("--watch{2}", &options->watch,
           "a live view, refreshed every 2 or --watch=SECONDS; ? lists its keys");
}

}  // namespace

const CommandEntry kTopCommand = {"top", "functions that hold the most memory", DescribeTop};

}  // namespace heapgauge::cli
