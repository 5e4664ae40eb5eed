// list: source lines with what they hold.

#include "cli/report_source.h"

namespace heapgauge::cli {
namespace {

int List(const ReportOptions& options) {
  const auto input = PrepareReport(options, pprof::ReportKind::kList);
  if (!input) return FailWith(input.error());
  return DeliverBy(options, [&](TextSink* sink) { return pprof::WriteReport(*input, sink); });
}

void DescribeList(Command list, Action* action) {
  auto options = std::make_shared<ReportOptions>();
  DescribeReport(list, action, List,
                 R"(
Columns are what a line holds itself, and with what it calls.

Examples:
  heapgauge list 'Cache::Insert' 4242
  heapgauge list --source-path ~/src/server 'Cache::Insert' server.pb.gz)",
                 options, "RE", "name of the function (RE2)");
  AddViewOptions(list, options.get(), kSortField);
  AddSourcePaths(list, &options->source_path, &options->trim_path);
}

}  // namespace

const CommandEntry kListCommand = {"list", "source lines of functions, with figures", DescribeList};

}  // namespace heapgauge::cli
