// traces: whole stacks.

#include "cli/report_source.h"
#include "core/report/views/traces.h"

namespace heapgauge::cli {
namespace {

int Traces(const ReportOptions& options) {
  const auto sorted = LoadSorted(options);
  if (!sorted) return FailWith(sorted.error());
  const Profile& profile = sorted->profile();
  TracesOptions traces;
  traces.rows = options.RowsOr(traces.rows);
  traces.layout = Target(options).layout();
  traces.sort = sorted->sort;
  traces.filter = {options.focus, options.ignore};
  traces.names = options.names;
  traces.granularity = options.granularity;
  if (options.json || options.csv) TellNotes(profile.notes);
  const TextLook look = Target(options).look;
  return DeliverBy(options, [&](TextSink* sink) {
    if (options.json) return WriteTracesJson(profile, traces, sink);
    if (options.csv) return WriteTracesCsv(profile, traces, sink);
    return WriteTraces(profile, sorted->loaded.notes, traces, look, sink);
  });
}

void DescribeTraces(Command traces, Action* action) {
  auto options = std::make_shared<ReportOptions>();
  options->granularity = Granularity::kLines;
  DescribeReport(traces, action, Traces, R"(
Frames are shown from the one that allocates outwards, by source line; --functions joins stacks that
differ in lines alone.

Examples:
  heapgauge traces -n 3 4242
  heapgauge traces --focus ParseRequest 4242)",
                 options);
  const Option json = AddTable(traces, options.get());
  AddGranularity(traces, options.get());
  AddCsv(traces, json, options.get());
}

}  // namespace

const CommandEntry kTracesCommand = {"traces", "whole stacks, the heaviest first", DescribeTraces};

}  // namespace heapgauge::cli
