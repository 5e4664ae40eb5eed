// heaptrack: a data file for heaptrack_print and heaptrack_gui.

#include "cli/packed_output.h"
#include "cli/report_figures.h"
#include "cli/trace_source.h"
#include "core/formats/heaptrack/heaptrack_writer.h"

namespace heapgauge::cli {
namespace {

int Heaptrack(const ReportOptions& options) {
  if (IsWholeTrace(options)) {
    return DeliverTrace(
        options, [](const OpenedTrace& trace, ProgressSink* progress, TextSink* out) -> Status {
          HG_TRY(WriteHeaptrack(*trace.file, trace.stacks, progress, out));
          return {};
        });
  }
  const auto loaded = LoadSelected(options);
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

}  // namespace

void AddHeaptrack(Command app, Action* action) {
  AddReport(app, action, "heaptrack", "a data file for heaptrack_print and heaptrack_gui",
            Heaptrack,
            R"(
Of a trace (heapgauge run --trace), every allocation and free in order, with times and resident
memory. Of any other profile, and of a trace with --at or another option that chooses some of it,
the blocks that are live, as if none was freed: their peak, times and temporary allocations are not
known. A name that ends in .zst or .gz is compressed.

Examples:
  heapgauge heaptrack -o server.zst server.hgt && heaptrack_print server.zst
  heapgauge heaptrack -o heap.gz 4242)",
            std::make_shared<ReportOptions>());
}

}  // namespace heapgauge::cli
