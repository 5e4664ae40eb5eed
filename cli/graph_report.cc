#include "cli/graph_report.h"

#include <utility>

#include "cli/report_figures.h"
#include "core/report/draw/graph_input.h"

namespace heapgauge::cli {
namespace {

pprof::Shape ShapeOf(const std::string& granularity) {
  if (granularity == "lines") return pprof::Shape::kLines;
  if (granularity == "files") return pprof::Shape::kFiles;
  if (granularity == "addresses") return pprof::Shape::kAddresses;
  return pprof::Shape::kFunctions;
}

}  // namespace

Result<pprof::ReportInput> PrepareReport(const ReportOptions& options, pprof::ReportKind kind) {
  if (options.granularity == "modules") {
    return Fail(ErrorCode::kInvalidArgument,
                "this report has no form by module; tree --modules has one");
  }
  HG_ASSIGN(Sorted sorted, LoadSorted(options));
  Profile profile = std::move(sorted.loaded.profile);
  if (profile.sample_types.empty()) {
    return Fail(ErrorCode::kCorrupt, "the profile has no sample types");
  }
  TellNotes(profile.notes);
  pprof::ReportRequest request;
  request.kind = kind;
  request.pattern = options.pattern;
  pprof::Config& config = request.config;
  config.focus = options.focus;
  config.ignore = options.ignore;
  config.sort_by_cum = options.cumulative;
  config.source_path = options.source_path;
  config.trim_path = options.trim_path;
  config.granularity = ShapeOf(options.granularity);
  if (options.rows >= 0) config.node_count = options.rows;
  const size_t type = TypeOf(profile, sorted.sort);
  return PrepareGraph(std::move(profile), std::move(request), type, NamesOf(options.names));
}

void AddGraphOptions(Command sub, ReportOptions* options) {
  AddSort(sub, options);
  AddGranularity(sub, options);
  sub.Add("-n,--nodes", &options->rows, "functions to show; 80 by default").NonNegative();
}

}  // namespace heapgauge::cli
