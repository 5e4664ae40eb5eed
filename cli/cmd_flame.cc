// flame: the call tree as a picture.

#include <algorithm>

#include "cli/report_source.h"
#include "core/fold/measures.h"
#include "core/report/draw/flame.h"

namespace heapgauge::cli {
namespace {

int Flame(const ReportOptions& options) {
  const auto loaded = LoadSelected(options);
  if (!loaded) return FailWith(loaded.error());
  TreeOptions flame = FlameOptions();
  flame.filter = {options.focus, options.ignore};
  flame.sort = loaded->sort;
  flame.granularity = loaded->granularity;
  flame.names = options.names;
  flame.callers = options.callers;
  flame.depth = options.depth;
  const Terminal target = Target(options);
  const bool to_terminal = options.output.empty() && target.is_terminal;
  if (!options.text && !to_terminal) {
    TellNotes(loaded->profile().notes);
    const auto svg = FlameSvg(loaded->profile(), flame);
    if (!svg) return FailWith(svg.error());
    if (MeasuresOf(loaded->profile()).is_change) {
      TellShrunk(loaded->profile(), loaded->rows, TypeOf(loaded->profile(), loaded->sort));
    }
    return Deliver(options, *svg);
  }
  flame.layout = target.layout();
  flame.fold = 100.0 / static_cast<double>(std::max<size_t>(target.width, 20));
  const size_t lines = to_terminal ? std::max<size_t>(target.height, 16) - 8 : 60;
  const auto text = FlameText(loaded->profile(), loaded->loaded.notes, flame, lines);
  return text ? Deliver(options, *text) : FailWith(text.error());
}

void DescribeFlame(Command flame, Action* action) {
  auto options = std::make_shared<ReportOptions>();
  DescribeReport(flame, action, Flame,
                 R"(
Boxes are as wide as what they hold, callers above what they call. In a browser a click zooms in, Esc
zooms out, / searches, and the pointer shows figures with their range. The file needs nothing else:
it can be mailed and opened from a disk.

Examples:
  heapgauge flame -o heap.svg 4242
  heapgauge flame 4242                               in the terminal
  heapgauge flame --callers -o callers.svg 4242      from what allocates to who asked for it
  heapgauge flame --sort allocated -o churn.svg 4242
  heapgauge flame --at peak -o peak.svg server.hgt   of a trace: when most was live)",
                 options);
  AddViewOptions(flame, options.get(), kSortField);
  AddGranularity(flame, options.get());
  flame.Flag("--callers", &options->callers, "begin with what allocates, callers below it");
  flame.Flag("--text", &options->text, "boxes made of characters, whatever the output is");
  flame.Add("--depth", &options->depth, "calls to show from the root");
}

}  // namespace

const CommandEntry kFlameCommand = {"flame", "a flame graph: one SVG file, or boxes in a terminal",
                                    DescribeFlame};

}  // namespace heapgauge::cli
