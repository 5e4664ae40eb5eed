// GET api/v1/graph: the call graph as pprof draws it, with a place for each box and a curve for
// each arrow, so that a page can draw it in its own colours.

#include <unordered_map>

#include "core/fold/sort_choice.h"
#include "core/model/copy_values.h"
#include "core/report/draw/drawn_graph.h"
#include "core/report/draw/graph_input.h"
#include "endpoint/api/api.h"
#include "endpoint/api/graph_request.h"

namespace heapgauge::endpoint::api {
namespace {

constexpr std::string_view kGraphParameters[] = {"nodes"};

// Which frame a box stands for: what it is called is not the whole name of its function.
class FramesByName {
 public:
  FramesByName(const Profile& profile, Names names)
      : profile_(profile), names_(FrameNames(profile, Granularity::kFunctions, names)) {
    for (uint32_t i = 0; i < names_.size(); ++i) frames_.emplace(names_[i], i);
  }

  void Describe(const std::string& name, Json* json) const {
    const auto found = frames_.find(name);
    if (found == frames_.end()) return;
    const Frame& frame = profile_.frames[found->second];
    const Function& function = profile_.functions[frame.function];
    (*json)["function"] = function.name;
    (*json)["file"] = function.file;
    (*json)["line"] = frame.line;
  }

 private:
  const Profile& profile_;
  const std::vector<std::string> names_;
  std::unordered_map<std::string_view, uint32_t> frames_;
};

Json GraphJson(const DrawnGraph& graph, const FramesByName& frames) {
  Json boxes = Json::Array();
  for (const DrawnGraph::Box& box : graph.boxes) {
    Json json = {{"name", box.name},
                 {"flat", box.flat},
                 {"cum", box.cum},
                 {"flat_text", box.flat_text},
                 {"cum_text", box.cum_text},
                 {"share", box.share},
                 {"font", box.font},
                 {"lines", box.lines},
                 {"x", box.x},
                 {"y", box.y},
                 {"width", box.width},
                 {"height", box.height}};
    frames.Describe(box.name, &json);
    boxes.Add(std::move(json));
  }
  Json arrows = Json::Array();
  for (const DrawnGraph::Arrow& arrow : graph.arrows) {
    arrows.Add({{"from", arrow.from},
                {"to", arrow.to},
                {"value", arrow.value},
                {"text", arrow.text},
                {"share", arrow.share},
                {"residual", arrow.residual},
                {"pen", PenOf(arrow)},
                {"curve", arrow.curve},
                {"label_x", arrow.label_x},
                {"label_y", arrow.label_y}});
  }
  return {{"width", graph.width},
          {"height", graph.height},
          {"left_out", graph.left_out},
          {"boxes", std::move(boxes)},
          {"arrows", std::move(arrows)}};
}

Result<std::string> AnswerGraph(const Call& call, const Filter& filter) {
  HG_ASSIGN(const uint64_t nodes, NumberOf(call, "nodes", 1, 500, 80));
  HG_ASSIGN(const Looked looked, LookAt(call, filter));
  Subject& subject = *looked.subject;
  const std::string key = "graph " + std::to_string(nodes) + filter.names + filter.RowsKey();
  HG_ASSIGN(const auto text, subject.Kept<std::string>(key, [&]() -> Result<std::string> {
    const Profile& profile = *subject.profile();
    HG_ASSIGN(const SortKey sort, ChooseSort(filter.sort, profile));
    const size_t type = TypeOf(profile, sort);
    pprof::ReportRequest request = GraphRequest(filter, pprof::ReportKind::kDot);
    request.config.node_count = static_cast<int>(nodes);
    const Names names = filter.names == "whole" ? Names::kWhole : Names::kShort;
    const FramesByName frames(profile, names);
    DrawnGraph graph;
    // Without sample types there is nothing to draw, which is no error here.
    if (type < profile.sample_types.size()) {
      HG_ASSIGN(const pprof::ReportInput input,
                PrepareGraph(CopyOfValues(profile), std::move(request), type, names));
      graph = DrawGraph(input, /*legend=*/false);
    }
    Json json = GraphJson(graph, frames);
    json["type"] = type < profile.sample_types.size() ? profile.sample_types[type].name : "";
    return json.Line();
  }));
  return *text;
}

}  // namespace

const Resource kGraphResource = {"api/v1/graph", kGraphParameters, AnswerGraph};

}  // namespace heapgauge::endpoint::api
