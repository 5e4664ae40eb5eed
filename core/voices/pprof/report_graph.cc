// The reports that are made from the call graph alone: top, tree, peek, callgrind, proto.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "core/base/regex.h"
#include "core/formats/pprof/pprof_writer.h"
#include "core/voices/pprof/graph.h"
#include "core/voices/pprof/legend.h"
#include "core/voices/pprof/report.h"

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

namespace {

// Names are written once and referred to by number: "(3) main", then "(3)".
class NameList {
 public:
  std::string Text(const std::string& name) {
    if (name.empty()) return "";
    const auto [it, added] = ids_.try_emplace(name, ids_.size() + 1);
    return added ? fmt::format("({}) {}", it->second, name) : fmt::format("({})", it->second);
  }

 private:
  std::unordered_map<std::string, size_t> ids_;
};

// As it is, or relative to the line before if that is shorter.
std::string AddressText(const NodeInfo* before, uint64_t address) {
  std::string absolute = fmt::format("{:#x}", address);
  if (before == nullptr) return absolute;
  if (before->address == address) return "*";
  std::string relative = fmt::format("{:+}", static_cast<int64_t>(address - before->address));
  return relative.size() < absolute.size() ? relative : absolute;
}

// Callgrind takes functions of the same file and name for one. Those that are not, because they
// come from different modules or callers, are numbered: "main [1/2]".
std::vector<std::string> DistinctNames(const Graph& graph, bool call_tree) {
  using Function = std::tuple<GraphId, std::string_view, int64_t>;
  struct Alike {
    std::map<Function, size_t> numbers;
  };
  std::map<std::pair<std::string_view, std::string_view>, Alike> by_name;
  std::vector<size_t> number(graph.nodes.size());
  for (GraphId id : graph.order) {
    const NodeInfo& info = graph.info(id);
    const std::vector<EdgeId>& in = graph.nodes[id].in;
    const GraphId caller = call_tree && !in.empty() ? graph.edges[in[0]].src : kNone;
    std::map<Function, size_t>& numbers = by_name[{info.file, info.name}].numbers;
    const Function function(caller, info.object, info.start_line);
    number[id] = numbers.try_emplace(function, numbers.size() + 1).first->second;
  }
  std::vector<std::string> names(graph.nodes.size());
  for (GraphId id : graph.order) {
    const NodeInfo& info = graph.info(id);
    names[id] = info.name;
    const size_t count = by_name[{info.file, info.name}].numbers.size();
    if (count > 1) names[id] += fmt::format(" [{}/{}]", number[id], count);
  }
  return names;
}

}  // namespace

Status WriteCallgrind(const ReportInput& input, TextSink* out) {
  NodeOptions options = NodeOptionsOf(input.config());
  options.object_names = true;
  const NodeTable table(input.profile, options);
  GraphWants wants;
  wants.call_tree = input.config().call_tree;
  const Trimmed trimmed = TrimmedGraph(input, table, wants);
  const Graph& graph = trimmed.graph;
  ValueFormat format = FormatOf(input);
  SelectOutputUnit(input, graph, &format);
  const auto whole = [&format](int64_t value) {
    return ToInt64(Scale(value, format.sample_unit(), format.output_unit()).value);
  };
  const std::vector<std::string> distinct = DistinctNames(graph, wants.call_tree);
  HG_TRY(out->Write(fmt::format("positions: instr line\nevents: {}({})\n", SampleTypeName(input),
                                format.output_unit())));
  NameList objects;
  NameList files;
  NameList names;
  const NodeInfo* before = nullptr;
  for (GraphId id : graph.order) {
    const NodeInfo& info = graph.info(id);
    std::string text;
    if (before == nullptr || info.object != before->object || info.file != before->file ||
        info.name != before->name) {
      text += "\nob=" + objects.Text(std::string(info.object));
      text += "\nfl=" + files.Text(std::string(info.file));
      text += "\nfn=" + names.Text(std::string(info.name)) + "\n";
    }
    text += fmt::format("{} {} {}\n", AddressText(before, info.address), info.line,
                        whole(graph.nodes[id].flat_value()));
    for (EdgeId edge : graph.Sorted(graph.nodes[id].out)) {
      const GraphId callee = graph.edges[edge].dest;
      const NodeInfo& to = graph.info(callee);
      text += "cfl=" + files.Text(std::string(to.file)) + "\n";
      text += "cfn=" + names.Text(distinct[callee]) + "\n";
      text += fmt::format("calls=0 {} {}\n* * {}\n", AddressText(before, to.address), to.line,
                          whole(graph.edges[edge].weight_value()));
    }
    HG_TRY(out->Write(text));
    before = &info;
  }
  return {};
}

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
