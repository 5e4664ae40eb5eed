#include "core/voices/pprof/report_list.h"

#include <fmt/format.h>

#include <string_view>

#include "core/base/regex.h"
#include "core/voices/pprof/graph.h"
#include "core/voices/pprof/legend.h"
#include "core/voices/pprof/report.h"
#include "core/voices/pprof/text_buffer.h"

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

namespace {

int64_t FlatOf(const LineSum& sum) { return MeanOf(sum.flat, sum.flat_div); }
int64_t CumOf(const LineSum& sum) { return MeanOf(sum.cum, sum.cum_div); }

}  // namespace

Status WriteList(const ReportInput& input, TextSink* out) {
  HG_ASSIGN(const Regex regex, Regex::Compile(input.request.pattern));
  const ListedFunctions functions = ListFunctions(input, regex);
  if (functions.empty()) {
    return Fail(ErrorCode::kNotFound, "no matches found for regexp: " + input.request.pattern);
  }

  const ValueFormat format = FormatOf(input);
  const auto value_or_dot = [&](int64_t value) { return value == 0 ? "." : format(value); };
  ReportSources sources(input);
  TextBuffer buffer(out);
  std::string& text = buffer.text();
  text += "Total: " + format(input.total) + "\n";
  for (const auto& [name, files] : functions) {
    if (files.empty()) text += fmt::format("No source information for {}\n", name);
    for (const auto& [path, file] : files) {
      const auto lines = ListLines(path, file.build_id, file.weights, &sources.files());
      text += fmt::format("ROUTINE ======================== {} in {}\n", name, path);
      text += fmt::format("{:>10} {:>10} (flat, cum) {} of Total\n", format(FlatOf(file.sum)),
                          format(CumOf(file.sum)), Percentage(file.sum.cum, input.total_weight));
      const std::string& error = sources.files().ErrorOf(path);
      if (!error.empty()) text += " Error: " + error + "\n";
      for (const ListedLine& line : lines) {
        text += fmt::format("{:>10} {:>10} {:>6}:", value_or_dot(FlatOf(line.sum)),
                            value_or_dot(CumOf(line.sum)), line.number);
        text += line.text;
        text += '\n';
        HG_TRY(buffer.FlushIfFull());
      }
    }
    HG_TRY(buffer.FlushIfFull());
  }
  return buffer.Flush();
}

}  // namespace heapgauge::pprof
