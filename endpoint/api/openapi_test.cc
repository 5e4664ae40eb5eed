// docs/api/openapi.json says what the resources take and answer: each route, parameter and field.

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "core/report/views/exports.h"
#include "endpoint/api/api.h"
#include "endpoint/testing/ask.h"
#include "endpoint/testing/fake_checker.h"
#include "endpoint/testing/one_trace.h"

namespace heapgauge::endpoint::api {
namespace {

using nlohmann::json;
using testing::OneProcess;

const json& Document() {
  static const json document = [] {
    std::ifstream file(HEAPGAUGE_OPENAPI);
    return json::parse(file, nullptr, false);
  }();
  return document;
}

// A schema that only names another, or does so with a description of its own.
const json& Resolved(const json& schema) {
  if (schema.contains("allOf")) return Resolved(schema["allOf"][0]);
  if (!schema.contains("$ref")) return schema;
  const std::string name = schema["$ref"].get<std::string>();
  return Document()["components"]["schemas"].at(name.substr(name.rfind('/') + 1));
}

// What of the answer is not as described.
std::vector<std::string> Differences(const json& value, const json& described,
                                     const std::string& where) {
  if (value.is_null()) {
    if (described.value("nullable", false)) return {};
    return {where + " is null"};
  }
  const json& schema = Resolved(described);
  const std::string type = schema.value("type", "");
  std::vector<std::string> found;
  const auto add = [&](const std::vector<std::string>& more) {
    found.insert(found.end(), more.begin(), more.end());
  };
  if (type == "object") {
    if (!value.is_object()) return {where + " is no object"};
    for (const auto& [name, member] : value.items()) {
      const bool known = schema.contains("properties") && schema["properties"].contains(name);
      if (known) {
        add(Differences(member, schema["properties"][name], where + "." + name));
      } else if (!schema.contains("additionalProperties")) {
        found.push_back(where + "." + name + " is not described");
      } else if (schema["additionalProperties"].is_object()) {
        add(Differences(member, schema["additionalProperties"], where + "." + name));
      }
    }
    for (const json& name : schema.value("required", json::array())) {
      if (!value.contains(name)) found.push_back(where + " has no " + name.get<std::string>());
    }
  } else if (type == "array") {
    if (!value.is_array()) return {where + " is no list"};
    for (const json& one : value) add(Differences(one, schema["items"], where + "[]"));
  } else if (!type.empty()) {
    const bool right = type == "string"    ? value.is_string()
                       : type == "boolean" ? value.is_boolean()
                       : type == "integer" ? value.is_number_integer()
                       : type == "number"  ? value.is_number()
                                           : false;
    if (!right) found.push_back(where + " is no " + type);
    if (schema.contains("enum") &&
        std::count(schema["enum"].begin(), schema["enum"].end(), value) == 0) {
      found.push_back(where + " is " + value.dump());
    }
  }
  return found;
}

// The names of the parameters that all resources have.
std::multiset<std::string> FilterParameters() {
  std::multiset<std::string> names = {"source", "hold"};
  for (const ViewField& field : ViewFields()) {
    if (const std::string name = ParameterName(field); !name.empty()) names.insert(name);
  }
  return names;
}

std::string PathOf(const Resource& resource) { return "/" + std::string(resource.path); }

TEST(OpenApi, DescribesEveryResourceAndNoOther) {
  ASSERT_TRUE(Document().is_object());
  std::set<std::string> described;
  for (const auto& [path, item] : Document()["paths"].items()) described.insert(path);
  std::set<std::string> served;
  for (const Resource* resource : AllResources()) served.insert(PathOf(*resource));
  served.insert("/" + std::string(kControlPath));
  served.insert("/" + std::string(kExportPath));
  served.insert("/" + std::string(kLeakCheckPath));
  served.insert("/" + std::string(kCancelPath));
  EXPECT_EQ(described, served);
  std::set<std::string> routes;
  for (const Route& route : ApiRoutes()) routes.insert("/" + std::string(route.path));
  EXPECT_EQ(routes, served);
}

TEST(OpenApi, DescribesEveryParameterAndNoOther) {
  for (const Resource* resource : AllResources()) {
    std::multiset<std::string> described;
    for (json parameter : Document()["paths"][PathOf(*resource)]["get"]["parameters"]) {
      if (parameter.contains("$ref")) {
        const std::string name = parameter["$ref"].get<std::string>();
        parameter = Document()["components"]["parameters"].at(name.substr(name.rfind('/') + 1));
      }
      EXPECT_FALSE(parameter["description"].get<std::string>().empty());
      described.insert(parameter["name"].get<std::string>());
    }
    std::multiset<std::string> taken = FilterParameters();
    taken.insert(resource->parameters.begin(), resource->parameters.end());
    EXPECT_EQ(described, taken) << resource->path;
  }
}

TEST(OpenApi, DescribesFieldsAsTheirHelpDoes) {
  for (const ViewField& field : ViewFields()) {
    const std::string name = ParameterName(field);
    if (name.empty()) continue;
    const json& parameter = Document()["components"]["parameters"].at(name);
    std::string help = field.help;
    help[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(help[0])));
    // Of values the API has one more, which it describes after the rest.
    const std::string described = parameter["description"].get<std::string>();
    EXPECT_EQ(described.substr(0, name == "value" ? help.size() + 1 : std::string::npos),
              help + ".");
    const json& schema = parameter["schema"];
    json words = schema.value("enum", json::array());
    if (name == "value") {
      EXPECT_EQ(words.back(), "lost");
      words.erase(words.size() - 1);
      for (const json& word : words)
        EXPECT_TRUE(trace::ParseValue(word.get<std::string>())) << word;
    } else if (const auto* choice = std::get_if<ViewField::Choice>(&field.value)) {
      EXPECT_EQ(words, json(std::vector<std::string>(choice->words.begin(), choice->words.end())));
    } else if (std::holds_alternative<ViewField::Flag>(field.value)) {
      EXPECT_EQ(words, json({"0", "1"}));
    } else {
      EXPECT_TRUE(words.empty()) << name;
    }
  }
}

TEST(OpenApi, DescribesTheExport) {
  const json& get = Document()["paths"]["/" + std::string(kExportPath)]["get"];
  std::multiset<std::string> described;
  for (const json& parameter : get["parameters"]) {
    const std::string name = parameter.contains("$ref") ? parameter["$ref"] : parameter["name"];
    described.insert(name.substr(name.rfind('/') + 1));
  }
  std::multiset<std::string> taken = FilterParameters();
  taken.insert(ExportParameters().begin(), ExportParameters().end());
  EXPECT_EQ(described, taken);
  std::set<std::string> formats;
  for (const ExportFormat& format : ExportFormats()) {
    formats.insert(std::string(format.name));
    EXPECT_TRUE(get["responses"]["200"]["content"].contains(
        std::string(format.media_type.substr(0, format.media_type.find(';')))))
        << format.name;
  }
  EXPECT_EQ(get["parameters"][0]["schema"]["enum"].get<std::set<std::string>>(), formats);
}

void ExpectAsDescribed(const Response& response, const Resource& resource) {
  ASSERT_EQ(response.status, 200) << response.body;
  const json& schema = Document()["paths"][PathOf(resource)]["get"]["responses"]["200"]["content"]
                                 ["application/json"]["schema"];
  EXPECT_EQ(Differences(json::parse(response.body), schema, std::string(resource.path)),
            std::vector<std::string>());
}

TEST(OpenApi, DescribesEveryFieldOfAProcess) {
  OneProcess host;
  TimelinePoint point;
  point.time_ns = 1'000'000'000;
  point.live_bytes = 5;
  host.process->profile.timeline = {point};
  host.process->facts.lost = {{"table full", 3}};
  host.process->survey = testing::SmallSurvey();
  heapgauge::SampledBlock block;
  block.row = 0;
  block.address = 0x1000;
  block.size = 100;
  host.process->profile.blocks = {block};
  for (const Resource* resource : AllResources()) {
    // There is no SQL here, no trace, and nobody who looks at memory.
    if (resource == &kQueryResource || resource == &kLifetimesResource) continue;
    if (resource == &kLeaksResource || resource == &kLeakResource) continue;
    ExpectAsDescribed(host.Get(PathOf(*resource)), *resource);
    ExpectAsDescribed(host.Get(PathOf(*resource) + "?granularity=addresses"), *resource);
  }
  ExpectAsDescribed(host.Get("/api/v1/table?cumulative=1"), kTableResource);
  ExpectAsDescribed(host.Get("/api/v1/summary?brief=1"), kSummaryResource);
  ExpectAsDescribed(host.Get("/api/v1/flame?callers=1"), kFlameResource);
  ExpectAsDescribed(host.Get("/api/v1/flame?through=main&base-peak=1"), kFlameResource);
  ExpectAsDescribed(host.Get("/api/v1/frame?collapse=.&base-peak=1"), kFrameResource);
  const json failure = json::parse(host.Get("/api/v1/flame?what=1").body);
  EXPECT_EQ(Differences(failure, Document()["components"]["schemas"]["Error"], "error"),
            std::vector<std::string>());
}

TEST(OpenApi, DescribesEveryFieldOfATrace) {
  trace::testing::MakeTrace made;
  trace::testing::AddRandomEvents({}, &made);
  trace::MemoryPoint point;
  point.time_ns = 1;
  point.resident_bytes = point.proportional_bytes = point.swapped_bytes = 4096;
  point.cgroup_bytes = point.cgroup_limit = 8192;
  made.Memory(point);
  testing::OneTrace host(made);
  ExpectAsDescribed(host.Get("/api/v1/timeline?stacks=2&threads=1&steps=20"), kTimelineResource);
  ExpectAsDescribed(host.Get("/api/v1/lifetimes"), kLifetimesResource);
  for (const char* by : {"function", "stack", "module", "thread"}) {
    ExpectAsDescribed(host.Get(std::string("/api/v1/lifetimes?by=") + by), kLifetimesResource);
    ExpectAsDescribed(
        host.Get(std::string("/api/v1/memory-map?start=1&end=140737488355328&by=") + by),
        kMemoryMapResource);
  }
}

TEST(OpenApi, DescribesEveryFieldOfALeakCheck) {
  testing::CheckedProcess host;
  for (const double weight : {1.0, 50.0}) {
    host.checker->check = testing::MakeLeakCheck(weight);
    const Response done = host.Post(std::string("/") + std::string(kLeakCheckPath));
    ASSERT_EQ(done.status, 200) << done.body;
    EXPECT_EQ(Differences(json::parse(done.body), Document()["components"]["schemas"]["LeakCheck"],
                          "check"),
              std::vector<std::string>());
    const Response leaks = host.Get(PathOf(kLeaksResource));
    ExpectAsDescribed(leaks, kLeaksResource);
    const json check = json::parse(leaks.body);
    for (const json& record : check["records"]) {
      ExpectAsDescribed(
          host.Get(PathOf(kLeakResource) + "?record=" + record["key"].get<std::string>()),
          kLeakResource);
    }
  }
}

TEST(OpenApi, DescribesWhatAChangeAnswers) {
  OneProcess host;
  for (const char* words : {"action=disable", "action=sample&bytes=64K&pid=4242", "action=dump"}) {
    const Response response = host.Post("/api/v1/control?" + std::string(words));
    ASSERT_EQ(response.status, 200) << response.body;
    EXPECT_EQ(Differences(json::parse(response.body),
                          Document()["components"]["schemas"]["Control"], words),
              std::vector<std::string>());
  }
}

TEST(OpenApi, DescribesWhatANewSnapshotAnswers) {
  OneProcess host;
  const Response taken = host.Post("/api/v1/snapshots?source=4242");
  ASSERT_EQ(taken.status, 200) << taken.body;
  EXPECT_EQ(Differences(json::parse(taken.body), Document()["components"]["schemas"]["Snapshot"],
                        "new snapshot"),
            std::vector<std::string>());
  ExpectAsDescribed(host.Get("/api/v1/snapshots"), kSnapshotsResource);
  ExpectAsDescribed(host.Get("/api/v1/sources"), kSourcesResource);
}

TEST(OpenApi, NoticesWhatIsNotDescribed) {
  const json& schema = Document()["components"]["schemas"]["Estimate"];
  const json answer = {{"value", "1"}, {"low", 1}, {"more", 1}};
  EXPECT_EQ(Differences(answer, schema, "x").size(), 3u);
}

}  // namespace
}  // namespace heapgauge::endpoint::api
