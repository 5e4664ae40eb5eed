// GET api/v1/sources: what there is to look at.

#include "endpoint/api/api.h"
#include "endpoint/api/snapshot_source.h"
#include "endpoint/api/source_json.h"

namespace heapgauge::endpoint::api {

Json SourceJson(const Source::Facts& facts) {
  Json json = {{"id", facts.id},
               {"title", facts.title},
               {"kind", KindName(facts.kind)},
               {"live", facts.live}};
  if (facts.pid != 0) json["pid"] = facts.pid;
  if (facts.taken_unix_ns != 0) json["taken_unix_ns"] = facts.taken_unix_ns;
  return json;
}

namespace {

constexpr size_t kMost = 1000;

Result<std::string> AnswerSources(const Call& call, const Filter& filter) {
  Json list = Json::Array();
  size_t count = 0;
  for (const auto& opened : call.sources.List()) {
    if (++count > kMost) break;
    list.Add(SourceJson(opened->source().facts()));
  }
  for (const auto& kept : call.kept.List()) list.Add(SourceJson(FactsOf(*kept)));
  Json json = {{"sources", std::move(list)}, {"chosen", nullptr}};
  if (const auto chosen = OpenedOf(call, filter)) json["chosen"] = (*chosen)->source().facts().id;
  return json.Line();
}

}  // namespace

const Resource kSourcesResource = {"api/v1/sources", {}, AnswerSources};

}  // namespace heapgauge::endpoint::api
