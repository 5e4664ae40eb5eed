// GET api/v1/flame: the part of the call tree that can be seen.

#include <algorithm>
#include <unordered_map>

#include "core/base/text.h"
#include "core/report/labels.h"
#include "core/report/report_json.h"
#include "endpoint/api/api.h"
#include "endpoint/api/base.h"
#include "endpoint/api/looked_tree.h"

namespace heapgauge::endpoint::api {
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

  Json ToJson(const Profile& profile, const Entities& entities, const std::string& names) const {
    const Labels labels(profile, entities, ids_, names == "whole" ? Names::kWhole : Names::kShort,
                        Layout());
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
               {"sort", tree->sort == SortKey::kAllocated ? "allocated"
                        : tree->sort == SortKey::kCount   ? "count"
                                                          : "live"},
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

}  // namespace heapgauge::endpoint::api
