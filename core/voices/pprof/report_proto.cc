#include <map>
#include <tuple>

#include "core/formats/pprof/pprof_writer.h"
#include "core/voices/pprof/graph.h"
#include "core/voices/pprof/legend.h"
#include "core/voices/pprof/report_writers.h"

namespace heapgauge::pprof {
namespace {

// The function of a node in a profile that has nodes for locations.
FunctionId FunctionOf(
    const NodeInfo& info,
    std::map<std::tuple<std::string_view, std::string_view, int64_t>, FunctionId>* known,
    Profile* profile) {
  const auto [it, added] = known->try_emplace({info.name, info.file, info.start_line},
                                              static_cast<FunctionId>(profile->functions.size()));
  if (added) {
    Function& function = profile->functions.emplace_back();
    function.name = info.name;
    function.file = info.file;
    function.start_line = info.start_line;
    function.no_system_name = !function.name.empty();
  }
  return it->second;
}

}  // namespace

Status WriteProto(const ReportInput& input, TextSink* out) {
  const ValueFormat format = FormatOf(input);
  if (input.config().divide_by == 1) {
    return WritePprof(input.profile, {}, out);
  }
  Profile divided = input.profile;
  for (int64_t& value : divided.values) value = format.Divided(value);
  divided.estimates.clear();
  return WritePprof(divided, {}, out);
}

Status WriteTopProto(const ReportInput& input, TextSink* out) {
  const NodeTable table(input.profile, NodeOptionsOf(input.config()));
  GraphWants wants;
  wants.edges = false;
  const Graph graph = TrimmedGraph(input, table, wants).graph;
  ValueFormat format = FormatOf(input);
  SelectOutputUnit(input, graph, &format);
  const auto whole = [&format](int64_t value) {
    return ToInt64(Scale(value, format.sample_unit(), format.output_unit()).value);
  };
  Profile top;
  top.sample_types = {{"cum", format.output_unit()}, {"flat", format.output_unit()}};
  top.time_ns = input.profile.time_ns;
  top.duration_ns = input.profile.duration_ns;
  top.period_type = input.profile.period_type;
  top.period = input.profile.period;
  std::map<std::tuple<std::string_view, std::string_view, int64_t>, FunctionId> functions;
  for (GraphId id : graph.order) {
    const NodeInfo& info = graph.info(id);
    Location& location = top.locations.emplace_back();
    location.address = info.address;
    location.exact = true;
    location.first_frame = static_cast<uint32_t>(top.frames.size());
    location.frame_count = 1;
    Frame& frame = top.frames.emplace_back();
    frame.function = FunctionOf(info, &functions, &top);
    frame.line = static_cast<uint32_t>(info.line);
    Node node;
    node.location = static_cast<LocationId>(top.locations.size() - 1);
    top.nodes.push_back(node);
    Row row;
    row.leaf = static_cast<NodeId>(top.nodes.size() - 1);
    top.rows.push_back(row);
    top.values.push_back(whole(graph.nodes[id].cum_value()));
    top.values.push_back(whole(graph.nodes[id].flat_value()));
  }
  return WritePprof(top, {}, out);
}

}  // namespace heapgauge::pprof
