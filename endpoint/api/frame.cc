// GET api/v1/frame: all that is known of one call of the tree, with the range of its figures.

#include "core/base/text.h"
#include "core/report/labels.h"
#include "core/report/report_json.h"
#include "endpoint/api/api.h"

namespace heapgauge::endpoint::api {
namespace {

constexpr std::string_view kParameters[] = {"root", "callers"};

Result<std::string> AnswerFrame(const Call& call, const Filter& filter) {
  HG_ASSIGN(const std::vector<Step> path, StepsOf(call.Parameter("root").value_or("")));
  HG_ASSIGN(const bool callers, FlagOf(call, "callers"));
  HG_ASSIGN(const Looked looked, LookAt(call, filter));
  HG_ASSIGN(const auto tree, looked.subject->TreeOf(filter, callers));
  StackTree::Question question;
  question.path = path;
  question.depth = 0;
  const StackTree::View view = tree->tree->Look(question);
  if (!view.found) return Fail(ErrorCode::kNotFound, "there is no such call in this profile");
  const Profile& profile = *looked.subject->profile();
  const Measures& measures = looked.subject->measures();
  const HeapFigures figures = looked.subject->FiguresOf(tree->tree->RowsBelow(path));
  const StackTree::Node& node = view.nodes[0];
  Json json =
      path.empty() ? Json{{"function", "all"}} : EntityJson(profile, *tree->entities, node.entity);
  if (!path.empty() && node.entity != kNone) {
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
  json["figures"] = FiguresJson(figures, measures, profile.recording);
  Json stack = Json::Array();
  for (size_t i = 1; i < view.path.size(); ++i) {
    stack.Add(EntityJson(profile, *tree->entities, view.path[i].entity));
  }
  json["stack"] = std::move(stack);
  return json.Line();
}

}  // namespace

const Resource kFrameResource = {"api/v1/frame", kParameters, AnswerFrame};

}  // namespace heapgauge::endpoint::api
