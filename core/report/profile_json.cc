#include "core/report/profile_json.h"
#include "core/base/json.h"

#include "core/report/recording_text.h"
#include "core/report/report_json.h"

namespace heapgauge {
namespace {

// A list with one element on each line.
template <typename Make>
Status WriteList(const char* name, size_t count, const Make& make, TextSink* out) {
  HG_TRY(out->Write(std::string(",\n\"") + name + "\": ["));
  bool first = true;
  for (uint32_t i = 0; i < count; ++i) {
    const Json element = make(i);
    if (element.is_null()) continue;
    HG_TRY(out->Write((first ? "\n" : ",\n") + element.Line()));
    first = false;
  }
  return out->Write("\n]");
}

Json LabelJson(const Profile& profile, const Label& label) {
  Json json = {{"key", profile.strings[label.key]}};
  if (!label.is_number()) {
    json["text"] = profile.strings[label.text];
  } else {
    json["number"] = label.number;
    if (label.unit != kNone) json["unit"] = profile.strings[label.unit];
  }
  return json;
}

Json RowJson(const Profile& profile, RowId row, std::vector<LocationId>* stack) {
  const size_t types = profile.sample_types.size();
  Json json = Json::Object();
  profile.StackOf(row, stack);
  json["stack"] = *stack;
  Json values = Json::Array();
  for (size_t type = 0; type < types; ++type) values.Add(profile.value(row, type));
  json["values"] = std::move(values);
  const Row& r = profile.rows[row];
  if (!profile.estimates.empty()) {
    Json variances = Json::Array();
    for (size_t type = 0; type < types; ++type) {
      variances.Add(profile.estimate(row, type).variance);
    }
    json["variances"] = std::move(variances);
  }
  if (r.samples != 0 || r.live_samples != 0) {
    json["samples"] = r.samples;
    json["live_samples"] = r.live_samples;
  }
  if (r.truncated) json["truncated"] = true;
  Json labels = Json::Array();
  for (const Label& label : profile.LabelsOf(row)) labels.Add(LabelJson(profile, label));
  if (!labels.empty()) json["labels"] = std::move(labels);
  return json;
}

}  // namespace

Status WriteProfileJson(const Profile& profile, const std::vector<std::string>& notes,
                        const std::vector<bool>& selected, TextSink* out) {
  HG_TRY(out->Write("{\"profile\": " + ProfileJson(profile, MeasuresOf(profile)).Line()));
  HG_TRY(out->Write(",\n\"notes\": " + Json(notes).Line()));
  if (IsRecorded(profile.recording)) {
    HG_TRY(out->Write(",\n\"recording\": " + RecordingJson(profile.recording).Line()));
  }
  const auto module = [&](uint32_t i) {
    const Module& m = profile.modules[i];
    return Json{{"id", i},          {"path", m.path}, {"build_id", m.build_id},
                {"start", m.start}, {"end", m.end},   {"offset", m.offset}};
  };
  HG_TRY(WriteList("modules", profile.modules.size(), module, out));
  const auto function = [&](uint32_t i) {
    const Function& f = profile.functions[i];
    Json json = {{"id", i}, {"name", f.name}};
    if (!f.system_name.empty()) json["system_name"] = f.system_name;
    if (!f.file.empty()) json["file"] = f.file;
    if (f.start_line != 0) json["start_line"] = f.start_line;
    return json;
  };
  HG_TRY(WriteList("functions", profile.functions.size(), function, out));
  const auto location = [&](uint32_t i) {
    const Location& l = profile.locations[i];
    Json json = {{"id", i}, {"address", l.lookup_address()}};
    if (l.module != kNone) json["module"] = l.module;
    Json frames = Json::Array();
    for (uint32_t k = 0; k < l.frame_count; ++k) {
      const Frame& frame = profile.frames[l.first_frame + k];
      Json made = {{"function", frame.function}};
      if (frame.line != 0) made["line"] = frame.line;
      if (frame.inlined) made["inlined"] = true;
      frames.Add(std::move(made));
    }
    json["frames"] = std::move(frames);
    return json;
  };
  HG_TRY(WriteList("locations", profile.locations.size(), location, out));
  std::vector<LocationId> stack;
  const auto row = [&](uint32_t i) {
    return selected.empty() || selected[i] ? RowJson(profile, i, &stack) : Json();
  };
  HG_TRY(WriteList("samples", profile.rows.size(), row, out));
  return out->Write("\n}\n");
}

}  // namespace heapgauge
