// traces: whole stacks.

#include <CLI/CLI.hpp>

#include "cli/report_source.h"
#include "core/report/traces.h"

namespace heapgauge::cli {
namespace {

int Traces(const ReportOptions& options) {
  const auto loaded = Load(options);
  if (!loaded) return FailWith(loaded.error());
  TracesOptions traces;
  if (options.rows >= 0) traces.rows = static_cast<size_t>(options.rows);
  traces.layout = Target(options).layout();
  traces.sort = KeyOf(options.sort);
  traces.filter = {options.focus, options.ignore};
  traces.names = NamesOf(options.names);
  if (!options.granularity.empty()) traces.granularity = GranularityOf(options.granularity);
  if (options.json) {
    const auto json = TracesJson(loaded->profile, traces);
    return json ? Deliver(options, *json) : FailWith(json.error());
  }
  const auto text = TracesText(loaded->profile, loaded->notes, traces);
  return text ? Deliver(options, *text) : FailWith(text.error());
}

}  // namespace

void AddTraces(CLI::App* app, Action* action) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App* traces =
      AddReport(app, action, "traces", "whole stacks, the heaviest first", Traces, R"(
Frames are shown from the one that allocates outwards, by source line; --functions joins stacks that
differ in lines alone.

Examples:
  heapgauge traces -n 3 4242
  heapgauge traces --focus ParseRequest 4242)",
                options);
  AddTable(traces, options.get());
  AddGranularity(traces, options.get());
}

}  // namespace heapgauge::cli
