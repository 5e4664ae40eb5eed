// GET api/v1/summary: what the source is, how much it holds and how sure that is, and what can be
// asked of it.

#include <optional>

#include "core/report/recording_text.h"
#include "core/report/report_json.h"
#include "core/report/views/findings.h"
#include "core/report/views/memory.h"
#include "endpoint/api/api.h"
#include "endpoint/api/figure_choices.h"
#include "endpoint/api/source_json.h"

namespace heapgauge::endpoint::api {
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
std::string Exactly(const std::string& name) {
  std::string text = "^";
  for (const char c : name) {
    if (std::string_view("\\^$.*+?()[]{}|").find(c) != std::string_view::npos) text += '\\';
    text += c;
  }
  return text + "$";
}

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

}  // namespace heapgauge::endpoint::api
