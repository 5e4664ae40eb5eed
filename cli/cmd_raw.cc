// raw: all that is in a profile, in pprof's plain words.

#include "cli/report_source.h"

namespace heapgauge::cli {
namespace {

int Raw(const ReportOptions& options) {
  const auto input = PrepareReport(options, pprof::ReportKind::kRaw);
  if (!input) return FailWith(input.error());
  return DeliverBy(options, [&](TextSink* sink) { return pprof::WriteReport(*input, sink); });
}

void DescribeRaw(Command sub, Action* action) {
  DescribeReport(sub, action, Raw,
                 R"(
Example:
  heapgauge raw 4242 | less)",
                 std::make_shared<ReportOptions>());
}

}  // namespace

const CommandEntry kRawCommand = {
    "raw", "samples, locations and mappings as pprof -raw prints them", DescribeRaw};

}  // namespace heapgauge::cli
