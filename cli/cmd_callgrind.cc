// callgrind: a profile for KCachegrind and QCachegrind.

#include "cli/report_source.h"

namespace heapgauge::cli {
namespace {

int Callgrind(const ReportOptions& options) {
  const auto input = PrepareReport(options, pprof::ReportKind::kCallgrind);
  if (!input) return FailWith(input.error());
  return DeliverBy(options, [&](TextSink* sink) { return pprof::WriteReport(*input, sink); });
}

void DescribeCallgrind(Command callgrind, Action* action) {
  auto options = std::make_shared<ReportOptions>();
  DescribeReport(callgrind, action, Callgrind, R"(
Example:
  heapgauge callgrind -o callgrind.out.heap 4242 && kcachegrind callgrind.out.heap)",
                 options);
  AddViewOptions(callgrind, options.get(), kSortField);
}

}  // namespace

const CommandEntry kCallgrindCommand = {"callgrind", "a profile for KCachegrind",
                                        DescribeCallgrind};

}  // namespace heapgauge::cli
