// collapsed: stacks for flame graph tools.

#include <CLI/CLI.hpp>

#include "cli/report_source.h"
#include "core/formats/collapsed/collapsed_writer.h"

namespace heapgauge::cli {
namespace {

int Collapsed(const ReportOptions& options) {
  const auto loaded = Load(options);
  if (!loaded) return FailWith(loaded.error());
  const Granularity granularity = GranularityOf(options.granularity);
  const auto selected = SelectRows(loaded->profile, {options.focus, options.ignore}, granularity);
  if (!selected) return FailWith(selected.error());
  const size_t type = options.sort == "allocated" ? kAllocSpace
                      : options.sort == "count"   ? kInuseObjects
                                                  : kInuseSpace;
  return Deliver(
      options,
      WriteCollapsed(loaded->profile, type, *selected,
                     FrameNames(loaded->profile, granularity, NamesOf(options.names)),
                     granularity == Granularity::kFiles || granularity == Granularity::kModules));
}

}  // namespace

void AddCollapsed(CLI::App* app, Action* action) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App* collapsed = AddReport(app, action, "collapsed",
                                  "stacks for flame graph tools: a;b;c bytes", Collapsed, R"(
Values are live bytes; --sort allocated writes allocated bytes, --sort count live objects. Short
names depend on what else is in the profile; --names whole is better for comparing two.

Example:
  heapgauge collapsed 4242 | flamegraph.pl > heap.svg)",
                                  options);
  AddSort(collapsed, options.get());
  AddGranularity(collapsed, options.get());
}

}  // namespace heapgauge::cli
