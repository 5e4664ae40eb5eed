#include <fmt/format.h>

#include "core/voices/pprof/graph.h"
#include "core/voices/pprof/legend.h"
#include "core/voices/pprof/report_writers.h"

namespace heapgauge::pprof {
namespace {

// Whether a node was inlined into its callers: into all, some or none.
const char* InlineMark(const Graph& graph, const GraphNode& node) {
  bool inlined = false;
  bool called = false;
  for (EdgeId edge : node.in) (graph.edges[edge].inlined ? inlined : called) = true;
  if (!inlined) return "";
  return called ? " (partial-inline)" : " (inline)";
}

}  // namespace

Status WriteTop(const ReportInput& input, TextSink* out) {
  const NodeTable table(input.profile, NodeOptionsOf(input.config()));
  GraphWants wants;
  // They only tell what was inlined.
  wants.edges = table.has_inlines();
  wants.inlined_edges = true;
  const Trimmed trimmed = TrimmedGraph(input, table, wants);
  const Graph& graph = trimmed.graph;
  ValueFormat format = FormatOf(input);
  SelectOutputUnit(input, graph, &format);
  HG_TRY(out->Write(JoinLines(ReportLabels(input, format, trimmed, /*full=*/false))));
  HG_TRY(out->Write("      flat  flat%   sum%        cum   cum%\n"));
  int64_t flat_sum = 0;
  for (GraphId id : graph.order) {
    const GraphNode& node = graph.nodes[id];
    flat_sum = WrapAdd(flat_sum, node.flat);
    HG_TRY(out->Write(fmt::format(
        "{:>10} {} {} {:>10} {}  {}{}\n", format(node.flat_value()),
        Percentage(node.flat, input.total_weight), Percentage(flat_sum, input.total_weight),
        format(node.cum_value()), Percentage(node.cum, input.total_weight), graph.name(id),
        InlineMark(graph, node))));
  }
  return {};
}

}  // namespace heapgauge::pprof
