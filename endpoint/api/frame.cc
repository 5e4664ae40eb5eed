// GET api/v1/frame: all that is known of one call of the tree, with the range of its figures.

#include "core/base/text.h"
#include "core/report/labels.h"
#include "core/report/report_json.h"
#include "endpoint/api/api.h"
#include "endpoint/api/looked_tree.h"

namespace heapgauge::endpoint::api {
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

}  // namespace heapgauge::endpoint::api
