// The JSON that pages and scripts ask for, below /api/v1: its resources, their table of routes, and
// what they share to read a request and to answer it.
//
//   GET api/v1/flame?source=server.hgt&from=2s&to=5s&value=left&focus=Cache::
//
// docs/api/openapi.json describes every resource, parameter and field; api_test.cc compares it with
// what is answered. Figures come from the functions that the command line prints them with.
//
// An answer is one JSON object. What goes wrong is {"error": "one line"} with the status of its
// kind.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/base/result.h"
#include "core/fold/stack_tree.h"
#include "endpoint/api/filter.h"
#include "endpoint/api/sources.h"
#include "endpoint/base/route.h"

namespace heapgauge::endpoint {

// /api/v1/: what the web UI and scripts request.
std::span<const Route> ApiRoutes();

namespace api {

// A resource that a page only looks at.
struct Resource {
  std::string_view path;  // "api/v1/flame"
  // Parameters of its own, beside those of the filter.
  std::span<const std::string_view> parameters;
  Result<std::string> (*answer)(const Call&, const Filter&);
};

// Reads the filter, has the resource answer, and makes the reply.
Response Answer(const Call& call, const Resource& resource);

// {"error": "..."} with the status of its kind.
Response JsonFailure(const Error& error);
Response JsonReply(std::string text);

// The source that the filter means, and its profile.
struct Looked {
  std::shared_ptr<Opened> opened;
  std::shared_ptr<Subject> subject;
};
Result<std::shared_ptr<Opened>> OpenedOf(const Call& call, const Filter& filter);
Result<Looked> LookAt(const Call& call, const Filter& filter);

// A whole number of a parameter, or `otherwise` if it is not given.
Result<uint64_t> NumberOf(const Call& call, std::string_view name, uint64_t least, uint64_t most,
                          uint64_t otherwise);
Result<bool> FlagOf(const Call& call, std::string_view name);
// One of these words; the first if it is not given.
Result<std::string> ChoiceOf(const Call& call, std::string_view name,
                             std::initializer_list<std::string_view> words);

// Steps of a path as people's addresses have them: six letters each.
std::string StepText(Step step);
Result<std::vector<Step>> StepsOf(std::string_view text);

// A text that is JSON already, as a member of an object that is made by hand.
std::string WithMember(std::string object, std::string_view name, std::string_view json);

// Views of one concept are in one source: flame, frame and tree in call_trees.cc.
extern const Resource kSourcesResource;
extern const Resource kSummaryResource;
extern const Resource kFlameResource;
extern const Resource kFrameResource;
extern const Resource kTableResource;
extern const Resource kHistoryResource;
extern const Resource kTreeResource;
extern const Resource kPeekResource;
extern const Resource kGraphResource;
extern const Resource kSourceResource;
extern const Resource kTimelineResource;
extern const Resource kProcessesResource;
extern const Resource kDiffResource;
extern const Resource kQueryResource;
extern const Resource kLifetimesResource;
extern const Resource kLeaksResource;
extern const Resource kLeakResource;
extern const Resource kMemoryMapResource;
extern const Resource kSnapshotsResource;

// POST api/v1/snapshots: takes one, see taken_profiles.cc.
inline constexpr std::string_view kSnapshotsPath = "api/v1/snapshots";
Reply HandleNewSnapshot(const Call& call);

// POST api/v1/control: see processes.cc.
inline constexpr std::string_view kControlPath = "api/v1/control";
Reply HandleControl(const Call& call);

// GET api/v1/export: a file in place of JSON, see taken_profiles.cc.
inline constexpr std::string_view kExportPath = "api/v1/export";
std::span<const std::string_view> ExportParameters();
Reply HandleExport(const Call& call);

// POST api/v1/leaks/check: see leaks.cc.
inline constexpr std::string_view kLeakCheckPath = "api/v1/leaks/check";
Reply HandleLeakCheck(const Call& call);

// POST api/v1/cancel: ends a query, see query.cc.
inline constexpr std::string_view kCancelPath = "api/v1/cancel";
Reply HandleCancel(const Call& call);

// All of them, for the table of routes and for tests.
std::span<const Resource* const> AllResources();

}  // namespace api
}  // namespace heapgauge::endpoint
