// Views of the tree of calls: flame, frame and tree.

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "core/base/result.h"
#include "core/base/text.h"
#include "core/fold/rows_in_tree.h"
#include "core/report/labels.h"
#include "core/report/report_json.h"
#include "endpoint/api/api.h"
#include "endpoint/api/compare.h"

namespace heapgauge::endpoint::api {

// The tree of calls that a request is about: which stacks, from which end, from which functions on,
// compared with what. The same words for every resource that shows a tree.
//
// Pure functions.

inline constexpr std::string_view kTreeParameters[] = {"callers", "through",   "collapse",
                                                       "base",    "base-at",   "base-from",
                                                       "base-to", "base-peak", "base-hold"};

// The parameters of a resource that shows a tree: its own and those of the tree.
template <size_t count>
constexpr auto WithTreeParameters(const std::string_view (&own)[count]) {
  std::array<std::string_view, count + std::size(kTreeParameters)> all{};
  for (size_t i = 0; i < all.size(); ++i) {
    all[i] = i < count ? own[i] : kTreeParameters[i - count];
  }
  return all;
}

struct LookedTree {
  Looked now;
  std::optional<Looked> base;
  std::shared_ptr<const Subject::Tree> tree;
};
Result<LookedTree> LookAtTree(const Call& call, const Filter& filter);

Result<LookedTree> LookAtTree(const Call& call, const Filter& filter) {
  Subject::Shape shape;
  HG_ASSIGN(shape.callers, FlagOf(call, "callers"));
  shape.through = call.Parameter("through").value_or("");
  shape.collapse = call.Parameter("collapse").value_or("");
  LookedTree looked;
  if (HasBase(call)) {
    HG_ASSIGN(const Filter base, BaseOf(call, filter));
    HG_ASSIGN(looked.base, LookAt(call, base));
    shape.base = looked.base->subject;
  }
  HG_ASSIGN(looked.now, LookAt(call, filter));
  HG_ASSIGN(looked.tree, looked.now.subject->TreeOf(filter, shape));
  return looked;
}

// GET api/v1/flame: the part of the call tree that can be seen.

namespace {

constexpr auto kFlameParameters = WithTreeParameters({"root", "depth", "width", "most"});

// Names that nodes share, one for each entity.
class NameTable {
 public:
  uint32_t Of(EntityId entity) {
    const auto [found, added] = index_.try_emplace(entity, static_cast<uint32_t>(ids_.size()));
    if (added) ids_.push_back(entity);
    return found->second;
  }

  Json ToJson(const Profile& profile, const Entities& entities, Names names) const {
    const Labels labels(profile, entities, ids_, names, Layout());
    Json list = Json::Array();
    for (const EntityId id : ids_) {
      Json json = {{"label", labels[id]}, {"step", StepText(StepOf(profile, entities, id))}};
      if (id != kNone && entities[id].module != kNone) {
        json["module"] = BaseName(profile.modules[entities[id].module].path);
      }
      list.Add(std::move(json));
    }
    return list;
  }

 private:
  std::unordered_map<EntityId, uint32_t> index_;
  std::vector<EntityId> ids_;
};

enum NodeFlag : uint32_t { kInlined = 1, kRecursive = 2, kNotOpened = 4 };

uint32_t FlagsOf(const StackTree::Node& node) {
  return (node.inlined ? kInlined : 0u) | (node.recursive ? kRecursive : 0u) |
         (node.opened ? 0u : kNotOpened);
}

Result<std::string> AnswerFlame(const Call& call, const Filter& filter) {
  StackTree::Question question;
  HG_ASSIGN(question.path, StepsOf(call.Parameter("root").value_or("")));
  HG_ASSIGN(question.depth, NumberOf(call, "depth", 1, 1000, 64));
  HG_ASSIGN(const uint64_t width, NumberOf(call, "width", 1, 100'000, 2000));
  HG_ASSIGN(question.most, NumberOf(call, "most", 1, 200'000, 20'000));
  HG_ASSIGN(const LookedTree looked, LookAtTree(call, filter));
  const auto& tree = looked.tree;
  // What is narrower than a pixel cannot be seen. The root tells how much a pixel is.
  StackTree::Question root = question;
  root.depth = 0;
  const StackTree::View where = tree->tree->Look(root);
  if (where.found) question.least = where.nodes[0].value / static_cast<double>(width);
  const StackTree::View view = where.found ? tree->tree->Look(question) : where;

  const Profile& profile = *tree->profile;
  const Measures& measures = looked.now.subject->measures();
  NameTable names;
  Json path = Json::Array();
  for (const StackTree::Node& node : view.path) {
    // The root of all has no name.
    const bool named = node.parent != kNone || node.entity != kNone;
    path.Add(
        {{"name", named ? Json(names.Of(node.entity)) : Json(nullptr)}, {"value", node.value}});
  }
  std::vector<uint32_t> parents, name_of, flags;
  std::vector<double> values, selves, before, after;
  for (const StackTree::Node& node : view.nodes) {
    parents.push_back(node.parent == kNone ? 0 : node.parent);
    const bool is_root = node.parent == kNone && question.path.empty() && node.entity == kNone;
    name_of.push_back(is_root ? 0 : names.Of(node.entity));
    values.push_back(node.value);
    selves.push_back(node.opened ? node.self : 0);
    flags.push_back(FlagsOf(node));
    before.push_back(node.before);
    after.push_back(node.after);
  }
  Json nodes = {{"parent", parents},
                {"name", name_of},
                {"value", values},
                {"self", selves},
                {"flags", flags}};
  if (tree->compares) {
    nodes["before"] = before;
    nodes["after"] = after;
  }
  const RecordingFacts& recording = looked.now.subject->profile()->recording;
  Json json = {{"name", measures.name},
               {"unit", measures.unit},
               {"sort", SortName(tree->sort)},
               {"total", FiguresJson(tree->total, measures, recording)},
               {"selected", FiguresJson(tree->selected, measures, recording)},
               {"shrunk", tree->shrunk},
               {"value", tree->tree->total()},
               {"found", view.found},
               {"cut", view.cut},
               {"path", std::move(path)},
               {"names", names.ToJson(profile, *tree->entities, filter.names)},
               {"nodes", std::move(nodes)}};
  if (tree->compares) {
    const StackTree::Sides sides = tree->tree->sides();
    const std::vector<std::string> profiles = {NameOf(*looked.base), NameOf(looked.now)};
    json["compared"] = {{"profiles", profiles}, {"before", sides.before}, {"after", sides.after}};
  }
  return json.Line();
}

}  // namespace

const Resource kFlameResource = {"api/v1/flame", kFlameParameters, AnswerFlame};

// GET api/v1/frame: all that is known of one call of the tree, with the range of its figures.

namespace {

constexpr auto kFrameParameters = WithTreeParameters({"root"});

Result<std::string> AnswerFrame(const Call& call, const Filter& filter) {
  HG_ASSIGN(const std::vector<Step> path, StepsOf(call.Parameter("root").value_or("")));
  HG_ASSIGN(const LookedTree looked, LookAtTree(call, filter));
  const auto& tree = looked.tree;
  StackTree::Question question;
  question.path = path;
  question.depth = 0;
  const StackTree::View view = tree->tree->Look(question);
  if (!view.found) return Fail(ErrorCode::kNotFound, "there is no such call in this profile");
  const Profile& profile = *tree->profile;
  const RecordingFacts& recording = looked.now.subject->profile()->recording;
  const Measures& measures = looked.now.subject->measures();
  const HeapFigures figures = looked.now.subject->FiguresOf(tree->RowsBelow(path));
  const StackTree::Node& node = view.nodes[0];
  const bool named = !path.empty() || node.entity != kNone;
  Json json = named ? EntityJson(profile, *tree->entities, node.entity) : Json{{"function", "all"}};
  if (named && node.entity != kNone) {
    std::string place = PlaceOf(profile, tree->entities->granularity(), node.frame);
    if (node.lines_differ) place = place.substr(0, place.rfind(':'));
    json["place"] = place;
    json["line"] = profile.frames[node.frame].line;
    const ModuleId module = (*tree->entities)[node.entity].module;
    if (module != kNone) json["module"] = profile.modules[module].path;
  }
  json["inlined"] = node.inlined;
  json["recursive"] = node.recursive;
  json["value"] = node.value;
  if (tree->compares) {
    json["before"] = node.before;
    json["after"] = node.after;
  }
  json["figures"] = FiguresJson(figures, measures, recording);
  Json stack = Json::Array();
  for (size_t i = view.path[0].entity == kNone ? 1 : 0; i < view.path.size(); ++i) {
    stack.Add(EntityJson(profile, *tree->entities, view.path[i].entity));
  }
  json["stack"] = std::move(stack);
  return json.Line();
}

}  // namespace

const Resource kFrameResource = {"api/v1/frame", kFrameParameters, AnswerFrame};

// GET api/v1/tree: one row of the call tree and the rows below it, as somebody opens them one by
// one. The figures are those of `heapgauge tree`.

namespace {

constexpr std::string_view kOneTreeParameters[] = {"root", "callers", "rows", "heaviest", "open"};

// Far deeper than stacks are recorded.
constexpr size_t kDeepest = 1000;

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
  const Labels labels(profile, entities, shown, filter.names, Layout());
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
