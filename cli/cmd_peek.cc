// peek: who calls a function, and what it calls.

#include "cli/report_source.h"
#include "core/report/views/peek.h"

namespace heapgauge::cli {
namespace {

int Peek(const ReportOptions& options) {
  const auto loaded = LoadSorted(options);
  if (!loaded) return FailWith(loaded.error());
  PeekOptions peek;
  peek.pattern = options.pattern;
  peek.filter = {options.focus, options.ignore};
  peek.sort = loaded->sort;
  peek.granularity = options.granularity;
  peek.names = options.names;
  peek.layout = Target(options).layout();
  peek.rows = options.RowsOr(peek.rows);
  if (options.json) {
    TellNotes(loaded->profile().notes);
    const auto json = PeekJson(loaded->profile(), peek);
    return json ? Deliver(options, *json) : FailWith(About(loaded->loaded.sources, json.error()));
  }
  const auto text = PeekText(loaded->profile(), loaded->loaded.notes, peek);
  return text ? Deliver(options, *text) : FailWith(About(loaded->loaded.sources, text.error()));
}

void DescribePeek(Command peek, Action* action) {
  auto options = std::make_shared<ReportOptions>();
  // Before SOURCE, so that it is the first word on the command line.
  DescribeReport(peek, action, Peek, R"(
For each function whose name matches: its callers above it and what it calls below, each with what
of the function's memory goes that way.

Examples:
  heapgauge peek 'Cache::Insert' 4242
  heapgauge peek -n 3 --lines 'Parse' server.4242.hg)",
                 options, "RE", "name of the function (RE2)");
  AddTable(peek, options.get());
  AddGranularity(peek, options.get());
}

}  // namespace

const CommandEntry kPeekCommand = {"peek", "callers and callees of functions", DescribePeek};

}  // namespace heapgauge::cli
