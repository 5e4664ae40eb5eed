// GET api/v1/tree: one row of the call tree and the rows below it, as somebody opens them one by
// one. The figures are those of `heapgauge tree`.

#include <algorithm>

#include "core/fold/rows_in_tree.h"
#include "core/report/labels.h"
#include "core/report/report_json.h"
#include "endpoint/api/api.h"

namespace heapgauge::endpoint::api {
namespace {

constexpr std::string_view kOneTreeParameters[] = {"root", "callers", "rows", "heaviest", "open"};

// Far deeper than stacks are recorded.
constexpr size_t kDeepest = 1000;

const char* SortName(SortKey sort) {
  return sort == SortKey::kAllocated ? "allocated" : sort == SortKey::kCount ? "count" : "live";
}

// A walk over what is open: six letters lead in, a dot leads back out.
Result<StackTree::OpenPaths> OpenPathsOf(std::string_view walk) {
  constexpr size_t kStep = 6;
  StackTree::OpenPaths open;
  std::vector<uint32_t> way{0};
  while (!walk.empty()) {
    if (walk.front() == '.') {
      if (way.size() == 1) break;
      walk.remove_prefix(1);
      way.pop_back();
      continue;
    }
    const auto steps = StepsOf(walk.substr(0, kStep));
    if (!steps) break;
    walk.remove_prefix(kStep);
    const auto [step, is_new] = open.nodes[way.back()].try_emplace(
        steps->front(), static_cast<uint32_t>(open.nodes.size()));
    way.push_back(step->second);
    if (is_new) open.nodes.emplace_back();
  }
  if (!walk.empty()) {
    return Fail(ErrorCode::kInvalidArgument, "open is a walk of steps that an answer named");
  }
  return open;
}

// Of each node's children the first `most`; what is below the others goes with them.
std::vector<bool> KeepFirst(const std::vector<StackTree::Node>& nodes, size_t most) {
  std::vector<bool> kept(nodes.size());
  std::vector<size_t> children(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    kept[i] = i == 0 || (kept[nodes[i].parent] && children[nodes[i].parent]++ < most);
  }
  return kept;
}

std::vector<HeapFigures> FiguresOfNodes(const StackTree::View& view, const Subject::Tree& tree,
                                        bool callers, const Subject& subject) {
  const std::vector<uint32_t> rows =
      RowsInTree(subject.groundwork(), *tree.entities, view, tree.rows, callers);
  std::vector<HeapFigures> sums = subject.SumsOf(rows, view.nodes.size());
  for (size_t i = sums.size(); i-- > 1;) sums[view.nodes[i].parent].Add(sums[i]);
  return sums;
}

Result<std::string> AnswerTree(const Call& call, const Filter& filter) {
  StackTree::Question question;
  HG_ASSIGN(question.path, StepsOf(call.Parameter("root").value_or("")));
  HG_ASSIGN(const bool callers, FlagOf(call, "callers"));
  HG_ASSIGN(const uint64_t rows, NumberOf(call, "rows", 1, 10'000, 200));
  HG_ASSIGN(question.heaviest, FlagOf(call, "heaviest"));
  HG_ASSIGN(const StackTree::OpenPaths open, OpenPathsOf(call.Parameter("open").value_or("")));
  question.depth = kDeepest;
  if (!question.heaviest) question.open = &open;
  question.last_level = true;
  HG_ASSIGN(const Looked looked, LookAt(call, filter));
  HG_ASSIGN(const auto tree, looked.subject->TreeOf(filter, callers));
  const StackTree::View view = tree->tree->Look(question);

  const Profile& profile = *looked.subject->profile();
  const RecordingFacts& recording = profile.recording;
  const Measures& measures = looked.subject->measures();
  const Entities& entities = *tree->entities;
  const std::vector<bool> kept = KeepFirst(view.nodes, rows);
  const std::vector<HeapFigures> figures = FiguresOfNodes(view, *tree, callers, *looked.subject);
  std::vector<EntityId> shown;
  for (size_t i = 0; i < kept.size(); ++i) {
    if (kept[i]) shown.push_back(view.nodes[i].entity);
  }
  const Labels labels(profile, entities, shown,
                      filter.names == "whole" ? Names::kWhole : Names::kShort, Layout());
  std::vector<uint32_t> number(view.nodes.size());  // among those that are sent
  Json nodes = Json::Array();
  uint32_t sent = 0;
  for (size_t i = 0; i < kept.size(); ++i) {
    if (!kept[i]) continue;
    const StackTree::Node& node = view.nodes[i];
    number[i] = sent++;
    const bool is_all = i == 0 && question.path.empty();
    Json json = is_all ? Json{{"function", "all"}} : EntityJson(profile, entities, node.entity);
    json["label"] = is_all ? "all" : labels[node.entity];
    json["step"] = is_all ? "" : StepText(StepOf(profile, entities, node.entity));
    json["parent"] = i == 0 ? Json(nullptr) : Json(number[node.parent]);
    std::string place;
    if (node.frame != kNone) {
      place = PlaceOf(profile, entities.granularity(), node.frame);
      if (node.lines_differ) place = place.substr(0, place.rfind(':'));
      const Frame& frame = profile.frames[node.frame];
      json["line"] = frame.line;
      // By module the entity tells no file, and sources are opened by it.
      if (!entities.joins_calls()) json["file"] = profile.functions[frame.function].file;
    }
    json["place"] = place;
    if (node.inlined) json["inlined"] = true;
    if (node.recursive) json["recursive"] = true;
    json["value"] = node.value;
    json["self"] = node.self;
    json["children"] = node.children;
    json["figures"] = FiguresJson(figures[i], measures, recording);
    nodes.Add(std::move(json));
  }
  return Json{{"name", measures.name},
              {"unit", measures.unit},
              {"sort", SortName(tree->sort)},
              {"granularity", GranularityName(entities.granularity())},
              {"total", FiguresJson(tree->total, measures, recording)},
              {"selected", FiguresJson(tree->selected, measures, recording)},
              {"shrunk", tree->shrunk},
              {"found", view.found},
              {"cut", view.cut},
              {"nodes", std::move(nodes)}}
      .Line();
}

}  // namespace

const Resource kTreeResource = {"api/v1/tree", kOneTreeParameters, AnswerTree};

}  // namespace heapgauge::endpoint::api
