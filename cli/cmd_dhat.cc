// dhat: a file for DHAT's viewer.

#include "cli/report_options.h"
#include "cli/report_source.h"
#include "cli/trace_subject.h"
#include "core/formats/dhat/dhat_writer.h"

namespace heapgauge::cli {
namespace {

int Dhat(const ReportOptions& options) {
  auto recording = OpenWhole(options);
  if (recording && recording->is_whole_trace()) {
    return DeliverTrace(*recording, options,
                        [](const OpenedTrace& trace, ProgressSink* progress, TextSink* out) {
                          return WriteDhat(*trace.file, trace.stacks, progress, out);
                        });
  }
  const auto loaded = LoadSelected(options, recording ? &*recording : nullptr);
  if (!loaded) return FailWith(loaded.error());
  TellNotes(loaded->profile().notes);
  DhatProfileOptions dhat;
  dhat.selected = loaded->rows;
  // Who asks for a moment or a value of a trace gets that one.
  const bool of_trace = !options.at.empty() || !options.value.empty();
  if (!options.type.empty() || of_trace) {
    dhat.type = loaded->profile().DefaultType();
    TellShrunk(loaded->profile(), loaded->rows, dhat.type);
  }
  return DeliverBy(options, [&](TextSink* sink) -> Status {
    const auto write = [&](TextSink* packed) { return WriteDhat(loaded->profile(), dhat, packed); };
    return WritePacked(options.output, write, sink);
  });
}

void DescribeDhat(Command sub, Action* action) {
  DescribeReport(sub, action, Dhat, R"(
Of a trace (heapgauge run --trace), all that DHAT knows but reads and writes: totals, maxima,
lifetimes in microseconds, at the peak and at the end. Of any other profile, and of a trace with
--at, --value or another option that chooses some of it, one sample type as the total: what was
allocated, or what was asked for.

Examples:
  heapgauge dhat -o server.json server.hgt
  heapgauge dhat --type inuse_space -o heap.json 4242)",
                 std::make_shared<ReportOptions>());
}

}  // namespace

const CommandEntry kDhatCommand = {"dhat", "a file for DHAT's viewer, dh_view.html (JSON)",
                                   DescribeDhat};

}  // namespace heapgauge::cli
