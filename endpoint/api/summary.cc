#include "endpoint/api/summary.h"

#include <optional>

#include "core/base/encode.h"
#include "core/base/json.h"
#include "core/fold/measures.h"
#include "core/report/recording_text.h"
#include "core/report/report_json.h"
#include "core/report/views/findings.h"
#include "core/report/views/memory.h"
#include "core/trace/answer/trace_profile.h"
#include "endpoint/api/api.h"
#include "endpoint/api/source.h"
#include "endpoint/api/sources.h"

namespace heapgauge::endpoint::api {

// A source as answers name it.

Json SourceJson(const Source::Facts& facts);

std::vector<FigureChoice> FigureChoices(Source::Kind kind, const Subject& subject) {
  std::vector<FigureChoice> choices;
  if (kind == Source::Kind::kTrace) {
    for (const trace::TraceValue value :
         {trace::TraceValue::kLive, trace::TraceValue::kPeak, trace::TraceValue::kAllocated,
          trace::TraceValue::kFreed, trace::TraceValue::kGrowth, trace::TraceValue::kTemporary,
          trace::TraceValue::kLeft, trace::TraceValue::kNeverFreed, trace::TraceValue::kLifetime}) {
      const std::string name = trace::ValueName(value);
      Headers parameters;
      if (value != trace::TraceValue::kLive) parameters.emplace_back("value", name);
      choices.push_back({name, parameters});
      if (value == trace::TraceValue::kLifetime) continue;  // bytes times seconds
      parameters.emplace_back("blocks", "1");
      choices.push_back({name + " blocks", std::move(parameters)});
    }
    return choices;
  }
  const Measures& m = subject.measures();
  const Profile& profile = *subject.profile();
  if (m.name == "live" || m.has_allocated()) {
    choices.push_back({m.name, {}});
    if (m.has_objects()) choices.push_back({m.name + " objects", {{"sort", "count"}}});
    if (kind == Source::Kind::kProcess && profile.recording.peak_bytes > 0) {
      choices.push_back({"peak", {{"peak", "1"}}});
      choices.push_back({"peak objects", {{"peak", "1"}, {"sort", "count"}}});
    }
    if (m.has_allocated()) choices.push_back({"allocated", {{"sort", "allocated"}}});
    if (m.allocated_objects != kNone) {
      choices.push_back(
          {"allocated objects", {{"type", profile.sample_types[m.allocated_objects].name}}});
    }
    if (KnowsFreed(profile)) {
      choices.push_back({"freed", {{"value", "freed"}}});
      choices.push_back({"freed objects", {{"value", "freed"}, {"blocks", "1"}}});
    }
    // What else the file of another tool has: DHAT's peaks, say.
    if (kind == Source::Kind::kProfile && !IsRecorded(profile.recording)) {
      for (size_t type = 0; type < profile.sample_types.size(); ++type) {
        if (type == m.main || type == m.objects || type == m.allocated ||
            type == m.allocated_objects) {
          continue;
        }
        const std::string& name = profile.sample_types[type].name;
        choices.push_back({name, {{"type", name}}});
      }
    }
    return choices;
  }
  for (const SampleType& type : profile.sample_types) {
    choices.push_back({type.name, {{"type", type.name}}});
  }
  return choices;
}

// GET api/v1/summary: what the source is, how much it holds and how sure that is, and what can be
// asked of it.

namespace {

// What takes a while is left out.
constexpr std::string_view kSummaryParameters[] = {"brief"};

Json Choice(const std::string& title, Json parameters) {
  return {{"title", title}, {"parameters", std::move(parameters)}};
}

Json ChoicesOf(Source::Kind kind, const Subject& subject) {
  Json choices = Json::Array();
  for (const FigureChoice& choice : FigureChoices(kind, subject)) {
    Json parameters = Json::Object();
    for (const auto& [name, value] : choice.parameters) parameters[name] = value;
    choices.Add(Choice(choice.title, std::move(parameters)));
  }
  return choices;
}

// What a look at memory adds.
void AddLostChoices(Json* choices) {
  choices->Add(Choice("lost", {{"value", kLostValue}}));
  choices->Add(Choice("lost blocks", {{"value", kLostValue}, {"blocks", "1"}}));
}

// A regular expression that matches this name and no other.
std::string Exactly(const std::string& name) { return "^" + EscapeRegex(name) + "$"; }

Json FindingsJson(const std::vector<ProfileFinding>& findings, Source::Kind kind) {
  Json list = Json::Array();
  for (const ProfileFinding& finding : findings) {
    Json parameters = Json::Object();
    if (!finding.function.empty()) {
      parameters["view"] = "flame";
      parameters["focus"] = Exactly(finding.function);
      if (finding.allocated) {
        parameters[kind == Source::Kind::kTrace ? "value" : "sort"] = "allocated";
      }
    } else if (finding.kind == ProfileFinding::Kind::kLeak) {
      parameters["view"] = "leaks";
      if (!finding.leak.empty()) parameters["leak"] = finding.leak;
    } else if (finding.kind == ProfileFinding::Kind::kSamples) {
      parameters["view"] = "processes";
    }
    list.Add({{"kind", FindingKindName(finding.kind)},
              {"text", finding.text},
              {"weight", finding.weight},
              {"parameters", std::move(parameters)}});
  }
  return list;
}

Result<std::string> AnswerSummary(const Call& call, const Filter& filter) {
  HG_ASSIGN(const bool brief, FlagOf(call, "brief"));
  HG_ASSIGN(const Looked looked, LookAt(call, filter));
  const Profile& profile = *looked.subject->profile();
  const RecordingFacts& recording = profile.recording;
  const Measures& measures = looked.subject->measures();
  const Source::Facts facts = looked.opened->source().facts();
  HeapFigures total = looked.subject->groundwork().total();
  total.live_bytes = OrNothingSampled(total.live_bytes, recording);
  Json choices = ChoicesOf(facts.kind, *looked.subject);
  const KeptChecks::Pointer check = looked.opened->checks().Last();
  if (check != nullptr && check->looked()) AddLostChoices(&choices);
  Json json = {{"source", SourceJson(facts)},
               {"recording", RecordingJson(recording)},
               {"state", IsRecorded(recording) ? StateText(recording) : ""},
               {"profile", ProfileJson(profile, measures)},
               {"name", measures.name},
               {"unit", measures.unit},
               {"total", FiguresJson(total, measures, recording)},
               {"stacks", profile.rows.size()},
               {"choices", std::move(choices)},
               {"notes", profile.notes}};
  if (!IsRecorded(recording)) json["recording"] = nullptr;  // of other tools
  if (brief) return json.Line();
  std::string memory = "null";
  std::optional<MemorySurvey> survey;
  if (const auto process = looked.opened->source().process()) {
    if (auto known = process->Memory()) {
      survey = *std::move(known);
      memory = MemoryJson(*survey, {});
    }
  }
  Filter plain;  // whatever rows the page shows
  HG_ASSIGN(const auto table, looked.subject->TableOf(plain, false));
  std::vector<ProfileFinding> findings =
      FindingsOf(profile, table->report, survey ? &*survey : nullptr);
  if (check != nullptr) AddLeakFindings(check->Subject(nullptr), &findings);
  json["findings"] = FindingsJson(findings, facts.kind);
  return WithMember(json.Line(), "memory", memory);
}

}  // namespace

const Resource kSummaryResource = {"api/v1/summary", kSummaryParameters, AnswerSummary};

// GET api/v1/sources: what there is to look at.

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
