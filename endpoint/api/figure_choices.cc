#include "endpoint/api/figure_choices.h"

#include "core/fold/freed_figures.h"
#include "core/report/recording_text.h"
#include "core/trace/answer/trace_profile.h"

namespace heapgauge::endpoint::api {

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

}  // namespace heapgauge::endpoint::api
