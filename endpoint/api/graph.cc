// GET api/v1/graph: the call graph as pprof draws it, with a place for each box and a curve for
// each arrow, so that a page can draw it in its own colours.

#include "endpoint/api/graph.h"

#include <algorithm>
#include <unordered_map>

#include "core/fold/functions.h"
#include "core/fold/neighbours.h"
#include "core/model/profile.h"
#include "core/report/draw/drawn_graph.h"
#include "core/report/labels.h"
#include "core/report/report_json.h"
#include "endpoint/api/api.h"

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
  const std::string key =
      "graph " + std::to_string(nodes) + KeyOf(filter, kRowFields | kNamesField);
  HG_ASSIGN(const auto text, subject.Kept<std::string>(key, [&]() -> Result<std::string> {
    const Profile& profile = *subject.profile();
    HG_ASSIGN(const SortKey sort, ChooseSort(filter.sort, profile));
    const size_t type = TypeOf(profile, sort);
    pprof::ReportRequest request = GraphRequest(filter, pprof::ReportKind::kDot);
    request.config.node_count = static_cast<int>(nodes);
    const FramesByName frames(profile, filter.names);
    DrawnGraph graph;
    // Without sample types there is nothing to draw, which is no error here.
    if (type < profile.sample_types.size()) {
      HG_ASSIGN(const pprof::ReportInput input,
                PrepareGraph(CopyOfValues(profile), std::move(request), type, filter.names));
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

// GET api/v1/peek: functions among their callers and callees, with the figures of `heapgauge peek`.

namespace {

constexpr std::string_view kPeekParameters[] = {"pattern", "rows", "most"};

Result<std::string> AnswerPeek(const Call& call, const Filter& filter) {
  HG_ASSIGN(const uint64_t rows, NumberOf(call, "rows", 1, 100, 10));
  HG_ASSIGN(const uint64_t most, NumberOf(call, "most", 1, 10'000, 200));
  HG_ASSIGN(const Looked looked, LookAt(call, filter));
  HG_ASSIGN(const auto table, looked.subject->TableOf(filter, true));
  const FunctionReport& report = table->report;
  const Profile& profile = *looked.subject->profile();
  const Measures& measures = report.measures;
  NeighbourOptions options;
  options.pattern = call.Parameter("pattern").value_or("");
  options.filter = {filter.focus, filter.ignore};
  options.sort = table->sort;
  options.most = rows;
  HG_ASSIGN(const Neighbours found, FindNeighbours(looked.subject->groundwork(), report, options));

  std::vector<EntityId> shown;
  for (const Peeked& peeked : found.functions) {
    shown.push_back(report.rows[peeked.row].entity);
    for (const auto* side : {&peeked.callers, &peeked.callees}) {
      for (const Neighbour& neighbour : *side) shown.push_back(neighbour.entity);
    }
  }
  const Labels labels(profile, report.entities, std::move(shown), filter.names, Layout());
  const auto side = [&](const std::vector<Neighbour>& list) {
    Json json = Json::Array();
    for (size_t i = 0; i < std::min<size_t>(list.size(), most); ++i) {
      const Neighbour& neighbour = list[i];
      Json entry = neighbour.entity == kNone
                       ? Json{{"function", nullptr}}
                       : EntityJson(profile, report.entities, neighbour.entity);
      // Nobody, or the function itself.
      entry["label"] = neighbour.entity == kNone ? Json(nullptr) : Json(labels[neighbour.entity]);
      entry["figures"] = FiguresJson(neighbour.figures, measures, profile.recording);
      json.Add(std::move(entry));
    }
    return json;
  };
  Json functions = Json::Array();
  for (const Peeked& peeked : found.functions) {
    const FunctionRow& row = report.rows[peeked.row];
    Json entry = EntityJson(profile, report.entities, row.entity);
    entry["label"] = labels[row.entity];
    entry["place"] = row.frame == kNone
                         ? std::string()
                         : PlaceOf(profile, report.entities.granularity(), row.frame);
    if (row.frame != kNone) entry["line"] = profile.frames[row.frame].line;
    entry["flat"] = FiguresJson(row.flat, measures, profile.recording);
    entry["cum"] = FiguresJson(row.cum, measures, profile.recording);
    entry["callers"] = side(peeked.callers);
    entry["caller_count"] = peeked.callers.size();
    entry["callees"] = side(peeked.callees);
    entry["callee_count"] = peeked.callees.size();
    functions.Add(std::move(entry));
  }
  return Json{{"name", measures.name},
              {"unit", measures.unit},
              {"sort", table->sort == SortKey::kAllocated ? "allocated" : "live"},
              {"granularity", GranularityName(report.entities.granularity())},
              {"total", FiguresJson(report.total, measures, profile.recording)},
              {"matching", found.matching},
              {"functions", std::move(functions)}}
      .Line();
}

}  // namespace

const Resource kPeekResource = {"api/v1/peek", kPeekParameters, AnswerPeek};

}  // namespace heapgauge::endpoint::api
