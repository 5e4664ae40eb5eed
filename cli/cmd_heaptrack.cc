// heaptrack: a data file for heaptrack_print and heaptrack_gui.

#include "cli/report_options.h"
#include "cli/report_source.h"
#include "cli/trace_subject.h"
#include "core/formats/heaptrack/heaptrack_writer.h"

namespace heapgauge::cli {
namespace {

int Heaptrack(const ReportOptions& options) {
  auto recording = OpenWhole(options);
  if (recording && recording->is_whole_trace()) {
    return DeliverTrace(
        *recording, options,
        [](const OpenedTrace& trace, ProgressSink* progress, TextSink* out) -> Status {
          HG_TRY(WriteHeaptrack(*trace.file, trace.stacks, progress, out));
          return {};
        });
  }
  const LiveExport format = {
      "of a part of a trace heaptrack's files have the blocks and bytes that are live at one "
      "moment"};
  if (const Status can = CheckLiveExport(options, format); !can) return FailWith(can.error());
  const auto loaded = LoadSelected(options, recording ? &*recording : nullptr);
  if (!loaded) return FailWith(loaded.error());
  TellNotes(loaded->profile().notes);
  return DeliverBy(options, [&](TextSink* sink) -> Status {
    const auto write = [&](TextSink* packed) -> Status {
      HG_TRY(WriteHeaptrack(loaded->profile(), loaded->rows, packed));
      return {};
    };
    return WritePacked(options.output, write, sink);
  });
}

void DescribeHeaptrack(Command sub, Action* action) {
  DescribeReport(sub, action, Heaptrack,
                 R"(
Of a trace (heapgauge run --trace), every allocation and free in order, with times and resident
memory. Of any other profile, and of a trace with --at or another option that chooses some of it,
the blocks that are live, as if none was freed: their peak, times and temporary allocations are not
known, and other figures (--value, --from) are refused. A name that ends in .zst or .gz is compressed.

Examples:
  heapgauge heaptrack -o server.zst server.hgt && heaptrack_print server.zst
  heapgauge heaptrack -o heap.gz 4242)",
                 std::make_shared<ReportOptions>());
}

}  // namespace

const CommandEntry kHeaptrackCommand = {
    "heaptrack", "a data file for heaptrack_print and heaptrack_gui", DescribeHeaptrack};

}  // namespace heapgauge::cli
