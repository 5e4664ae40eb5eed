// raw: all that is in a profile, in pprof's plain words.

#include "cli/graph_report.h"

namespace heapgauge::cli {
namespace {

int Raw(const ReportOptions& options) {
  const auto input = PrepareReport(options, pprof::ReportKind::kRaw);
  if (!input) return FailWith(input.error());
  return DeliverBy(options, [&](TextSink* sink) { return pprof::WriteReport(*input, sink); });
}

}  // namespace

void AddRaw(Command app, Action* action) {
  AddReport(app, action, "raw", "samples, locations and mappings as pprof -raw prints them", Raw,
            R"(
Example:
  heapgauge raw 4242 | less)",
            std::make_shared<ReportOptions>());
}

}  // namespace heapgauge::cli
