#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/base/regex.h"
#include "core/voices/pprof/graph.h"
#include "core/voices/pprof/legend.h"
#include "core/voices/pprof/report_writers.h"

namespace heapgauge::pprof {
namespace {

constexpr const char* kRule =
    "----------------------------------------------------------+-------------\n";
constexpr const char* kHeading =
    "      flat  flat%   sum%        cum   cum%   calls calls% + context \t \t \n";

}  // namespace

// Also of peek, which shows only nodes whose names match.
Status WriteTree(const ReportInput& input, TextSink* out) {
  std::optional<Regex> pattern;
  if (input.request.kind == ReportKind::kPeek) {
    HG_ASSIGN(pattern, Regex::Compile(input.request.pattern));
  }
  const NodeTable table(input.profile, NodeOptionsOf(input.config()));
  const Trimmed trimmed = TrimmedGraph(input, table, {});
  const Graph& graph = trimmed.graph;
  const auto is_asked_for = [&](GraphId id) {
    return !pattern || pattern->Matches(graph.name(id));
  };
  if (pattern && std::none_of(graph.order.begin(), graph.order.end(), is_asked_for)) {
    return Fail(ErrorCode::kNotFound, "no matches found for regexp: " + input.request.pattern);
  }
  ValueFormat format = FormatOf(input);
  SelectOutputUnit(input, graph, &format);
  HG_TRY(out->Write(JoinLines(ReportLabels(input, format, trimmed, /*full=*/false))));
  HG_TRY(out->Write(kRule));
  HG_TRY(out->Write(kHeading));
  const auto write_edge = [&](EdgeId id, bool caller, int64_t cum) {
    const GraphEdge& edge = graph.edges[id];
    return out->Write(fmt::format(
        "{:>50} {} |   {}{}\n", format(edge.weight_value()), Percentage(edge.weight, cum),
        graph.name(caller ? edge.src : edge.dest), edge.inlined ? " (inline)" : ""));
  };
  int64_t flat_sum = 0;
  for (GraphId id : graph.order) {
    if (!is_asked_for(id)) continue;
    const GraphNode& node = graph.nodes[id];
    HG_TRY(out->Write(kRule));
    for (EdgeId edge : graph.Sorted(node.in)) HG_TRY(write_edge(edge, true, node.cum));
    flat_sum = WrapAdd(flat_sum, node.flat);
    HG_TRY(out->Write(fmt::format(
        "{:>10} {} {} {:>10} {}                | {}\n", format(node.flat_value()),
        Percentage(node.flat, input.total_weight), Percentage(flat_sum, input.total_weight),
        format(node.cum_value()), Percentage(node.cum, input.total_weight), graph.name(id))));
    for (EdgeId edge : graph.Sorted(node.out)) HG_TRY(write_edge(edge, false, node.cum));
  }
  if (!graph.order.empty()) HG_TRY(out->Write(kRule));
  return {};
}

}  // namespace heapgauge::pprof
