#include "core/voices/pprof/listed_lines.h"

#include <string_view>

#include "core/voices/pprof/graph.h"

namespace heapgauge::pprof {
namespace {

// A build-id for each path of a module, for those who look for sources by it.
std::map<std::string_view, std::string_view> BuildIds(const Profile& profile) {
  std::map<std::string_view, std::string_view> ids;
  for (const Module& module : profile.modules) ids.emplace(module.path, module.build_id);
  return ids;
}

}  // namespace

ListedFunctions ListFunctions(const ReportInput& input, const Regex& regex) {
  NodeOptions options = NodeOptionsOf(input.config());
  options.object_names = true;
  const NodeTable table(input.profile, options);
  GraphWants wants;
  wants.edges = false;
  const Trimmed trimmed = TrimmedGraph(input, table, wants);
  const Graph& graph = trimmed.graph;
  const auto build_ids = BuildIds(input.profile);
  ListedFunctions functions;
  for (const GraphId id : graph.order) {
    const NodeInfo& info = graph.info(id);
    if (!regex.Matches(info.name)) continue;
    auto& files = functions[std::string(info.name)];
    if (info.file.empty()) continue;
    ListedFile& file = files[std::string(info.file)];
    const GraphNode& node = graph.nodes[id];
    file.weights.push_back(
        {info.line, info.start_line, node.flat, node.cum, node.flat_div, node.cum_div});
    file.sum.Add(file.weights.back());
    const auto build_id = build_ids.find(info.object);
    if (build_id != build_ids.end()) file.build_id = build_id->second;
  }
  return functions;
}

}  // namespace heapgauge::pprof
