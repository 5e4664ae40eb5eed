#include <fmt/format.h>

#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "core/voices/pprof/graph.h"
#include "core/voices/pprof/legend.h"
#include "core/voices/pprof/report_writers.h"

namespace heapgauge::pprof {
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

}  // namespace heapgauge::pprof
