// json: the whole profile for programs.

#include "cli/report_source.h"
#include "core/report/report_json.h"

namespace heapgauge::cli {
namespace {

int WholeJson(const ReportOptions& options) {
  const auto loaded = LoadSelected(options);
  if (!loaded) return FailWith(loaded.error());
  return DeliverBy(options, [&](TextSink* sink) {
    return WriteProfileJson(loaded->profile(), loaded->loaded.notes, loaded->rows, sink);
  });
}

void DescribeJson(Command sub, Action* action) {
  auto options = std::make_shared<ReportOptions>();
  DescribeReport(sub, action, WholeJson, R"(
docs/formats/json.md describes it.

Example:
  heapgauge json 4242 | jq '.functions | length')",
                 options);
}

}  // namespace

const CommandEntry kJsonCommand = {
    "json", "the whole profile as JSON: modules, functions, stacks, values", DescribeJson};

}  // namespace heapgauge::cli
