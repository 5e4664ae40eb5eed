// json: the whole profile for programs.

#include "cli/report_figures.h"
#include "core/report/profile_json.h"

namespace heapgauge::cli {
namespace {

int WholeJson(const ReportOptions& options) {
  const auto loaded = LoadSorted(options);
  if (!loaded) return FailWith(loaded.error());
  const auto selected = SelectRows(loaded->profile(), {options.focus, options.ignore});
  if (!selected) return FailWith(selected.error());
  return DeliverBy(options, [&](TextSink* sink) {
    return WriteProfileJson(loaded->profile(), loaded->loaded.notes, *selected, sink);
  });
}

}  // namespace

void AddJson(Command app, Action* action) {
  auto options = std::make_shared<ReportOptions>();
  AddReport(app, action, "json", "the whole profile as JSON: modules, functions, stacks, values",
            WholeJson, R"(
docs/formats/json.md describes it.

Example:
  heapgauge json 4242 | jq '.functions | length')",
            options);
}

}  // namespace heapgauge::cli
