#include "endpoint/api/api.h"

#include <utility>

#include "core/base/numbers.h"
#include "core/base/text.h"
#include "endpoint/api/sources.h"
#include "endpoint/base/route.h"

namespace heapgauge::endpoint::api {
namespace {

constexpr std::string_view kLetters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr size_t kStepLetters = 6;

Response JsonText(int status, std::string text) {
  return {status, {{"Content-Type", "application/json"}}, std::move(text)};
}

template <const Resource* resource>
Reply Handle(const Call& call) {
  return Answer(call, *resource);
}

// Resources and their routes: nobody has to name the process in the path.
template <const Resource*... resources>
struct ResourceList {
  static constexpr const Resource* kAll[] = {resources...};
  static std::vector<Route> Routes() {
    return {Route{resources->path, "GET, HEAD", Handle<resources>, false}...};
  }
};

// A new resource is one file and one line here.
using Everything = ResourceList<&kSourcesResource,    //
                                &kSummaryResource,    //
                                &kFlameResource,      //
                                &kFrameResource,      //
                                &kTableResource,      //
                                &kHistoryResource,    //
                                &kTreeResource,       //
                                &kPeekResource,       //
                                &kGraphResource,      //
                                &kSourceResource,     //
                                &kTimelineResource,   //
                                &kLifetimesResource,  //
                                &kLeaksResource,      //
                                &kLeakResource,       //
                                &kMemoryMapResource,  //
                                &kDiffResource,       //
                                &kQueryResource,      //
                                &kSnapshotsResource,  //
                                &kProcessesResource>;

}  // namespace

Response JsonFailure(const Error& error) {
  const Response plain = FailureOf(error);
  return JsonText(plain.status, Json{{"error", error.Text("")}}.Line() + "\n");
}

Response JsonReply(std::string text) { return JsonText(200, std::move(text)); }

Response Answer(const Call& call, const Resource& resource) {
  // A page of another site may make a browser ask, and some measure how long it takes.
  if (call.request.is_cross_site()) {
    return JsonFailure(
        Error{ErrorCode::kPermission, "a page of another site may not ask for this"});
  }
  const auto filter = ParseFilter(call.parameters, resource.parameters);
  if (!filter) return JsonFailure(filter.error());
  auto text = resource.answer(call, *filter);
  if (!text) return JsonFailure(text.error());
  return JsonReply(*std::move(text));
}

Result<std::shared_ptr<Opened>> OpenedOf(const Call& call, const Filter& filter) {
  if (IsSnapshotId(filter.source)) return OpenedSnapshot(call, filter.source);
  return call.sources.Find(filter.source, call.process, call.is_named);
}

Result<Looked> LookAt(const Call& call, const Filter& filter) {
  Looked looked;
  HG_ASSIGN(looked.opened, OpenedOf(call, filter));
  HG_ASSIGN(looked.subject, looked.opened->SubjectOf(filter));
  return looked;
}

Result<uint64_t> NumberOf(const Call& call, std::string_view name, uint64_t least, uint64_t most,
                          uint64_t otherwise) {
  const auto text = call.Parameter(name);
  if (!text) return otherwise;
  const auto number = NumberIn<uint64_t>(*text);
  if (!number || *number < least || *number > most) {
    return Fail(ErrorCode::kInvalidArgument, std::string(name) + " is a number from " +
                                                 std::to_string(least) + " to " +
                                                 std::to_string(most));
  }
  return *number;
}

Result<bool> FlagOf(const Call& call, std::string_view name) {
  HG_ASSIGN(const uint64_t number, NumberOf(call, name, 0, 1, 0));
  return number == 1;
}

Result<std::string> ChoiceOf(const Call& call, std::string_view name,
                             std::initializer_list<std::string_view> words) {
  const auto text = call.Parameter(name);
  if (!text || text->empty()) return std::string(*words.begin());
  std::string all;
  for (const std::string_view word : words) {
    if (word == *text) return std::string(word);
    all.append(" ").append(word);
  }
  return Fail(ErrorCode::kInvalidArgument, std::string(name) + " is one of:" + all);
}

std::string StepText(Step step) {
  std::string text(kStepLetters, 'A');
  for (size_t i = kStepLetters; i-- > 0; step >>= 6) text[i] = kLetters[step & 63];
  return text;
}

Result<std::vector<Step>> StepsOf(std::string_view text) {
  std::vector<Step> steps;
  bool right = text.size() % kStepLetters == 0;
  for (size_t i = 0; right && i < text.size(); ++i) {
    const size_t letter = kLetters.find(text[i]);
    right = letter != std::string_view::npos;
    if (i % kStepLetters == 0) steps.push_back(0);
    steps.back() = steps.back() << 6 | letter;
  }
  if (!right) return Fail(ErrorCode::kInvalidArgument, "root is a path that an answer named");
  return steps;
}

std::string WithMember(std::string object, std::string_view name, std::string_view json) {
  while (!object.empty() && object.back() != '}') object.pop_back();
  if (object.empty()) return object;
  object.pop_back();
  if (object.back() != '{') object += ',';
  object.append("\"").append(name).append("\":").append(json).append("}");
  return object;
}

std::span<const Resource* const> AllResources() { return Everything::kAll; }

}  // namespace heapgauge::endpoint::api

namespace heapgauge::endpoint {

std::span<const Route> ApiRoutes() {
  static const std::vector<Route> kRoutes = [] {
    std::vector<Route> routes = api::Everything::Routes();
    routes.push_back({api::kExportPath, "GET, HEAD", api::HandleExport, false});
    routes.push_back({api::kCancelPath, "POST", api::HandleCancel, false});
    routes.push_back({api::kControlPath, "POST", api::HandleControl, false});
    routes.push_back({api::kLeakCheckPath, "POST", api::HandleLeakCheck, false});
    routes.push_back({api::kSnapshotsPath, "POST", api::HandleNewSnapshot, false});
    return routes;
  }();
  return kRoutes;
}

}  // namespace heapgauge::endpoint
