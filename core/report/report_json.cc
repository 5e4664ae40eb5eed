#include "core/report/report_json.h"

#include "core/base/json.h"
#include "core/fold/statistics.h"
#include "core/report/recording_text.h"

namespace heapgauge {

Json EstimateJson(const Estimate& estimate) {
  const Interval range = Interval95(estimate);
  return {{"value", estimate.value}, {"low", range.low}, {"high", range.high}};
}

Json FiguresJson(const HeapFigures& f, const Measures& m, const RecordingFacts& recording) {
  Json json = Json::Object();
  const bool live = m.name == "live";
  const bool allocated = m.name == "allocated";
  json[live ? "live_bytes" : allocated ? "allocated_bytes" : "value"] = EstimateJson(f.live_bytes);
  if (m.has_objects()) {
    json[live ? "live_objects" : allocated ? "allocated_objects" : "objects"] = f.live_objects;
  }
  if (m.has_allocated()) json["allocated_bytes"] = EstimateJson(f.allocated_bytes);
  if (m.allocated_objects != kNone) json["allocated_objects"] = f.allocated_objects;
  if (m.has_samples) {
    json["samples"] = f.samples;
    json["live_samples"] = f.live_samples;
  }
  if (f.aged_bytes > 0) {
    json["mean_age_ns"] = f.MeanAge(recording.duration_ns);
    json["oldest_age_ns"] = f.OldestAge(recording.duration_ns);
  }
  return json;
}

Json ProfileJson(const Profile& profile, const Measures& m) {
  Json json = {{"sample_type", m.type}, {"unit", m.unit}};
  Json types = Json::Array();
  for (const SampleType& type : profile.sample_types) {
    types.Add({{"name", type.name}, {"unit", type.unit}});
  }
  json["sample_types"] = std::move(types);
  if (profile.period != 0) {
    json["period"] = {{"name", profile.period_type.name},
                      {"unit", profile.period_type.unit},
                      {"value", profile.period}};
  }
  if (profile.time_ns != 0) json["time_ns"] = profile.time_ns;
  if (profile.duration_ns != 0) json["duration_ns"] = profile.duration_ns;
  if (!profile.comments.empty()) json["comments"] = profile.comments;
  return json;
}

namespace {

Json DumpJson(const RecordingFacts& r) {
  const DumpFacts& d = r.dump;
  return {{"sequence", d.sequence},
          {"reason", d.reason},
          {"time_ns", d.time_ns},
          {"text", DumpText(r)},
          {"failures", d.failures},
          {"last_error", d.last_error},
          {"memory_ns", d.memory_ns},
          {"resident_bytes", d.resident_bytes},
          {"anonymous_bytes", d.anonymous_bytes},
          {"file_bytes", d.file_bytes},
          {"shared_bytes", d.shared_bytes},
          {"swapped_bytes", d.swapped_bytes},
          {"cgroup_bytes", d.cgroup_bytes},
          {"cgroup_limit", d.cgroup_limit},
          {"address_space_bytes", d.address_space_bytes},
          {"address_space_limit", d.address_space_limit}};
}

}  // namespace

Json RecordingJson(const RecordingFacts& r) {
  Json lost = Json::Object();
  for (const auto& [reason, count] : r.lost) lost[reason] = count;
  return {{"program", r.program},
          {"name", r.name()},
          {"command_line", r.command_line},
          {"pid", r.pid},
          {"state", StateName(r.state)},
          {"active", r.active},
          {"forked", r.forked},
          {"forked_ns", r.began_ns()},
          {"start_unix_ns", r.start_unix_ns},
          {"duration_ns", r.duration_ns},
          {"reset_ns", r.reset_ns},
          {"allocator", r.allocator},
          {"allocator_path", r.allocator_path},
          {"interval", r.interval},
          {"interval_in_force", r.interval_in_force},
          {"samples", r.samples},
          {"live_samples", r.live_samples},
          {"inherited_samples", r.inherited_samples},
          {"lost", lost},
          {"lost_bytes", r.lost_bytes},
          {"lost_mappings", r.lost_mappings},
          {"truncated_walks", r.truncated_walks},
          {"unreadable_records", r.unreadable_records},
          {"gauge_file_bytes", r.file_bytes},
          {"agent_private_bytes", r.private_bytes},
          {"is_peak", r.is_peak},
          {"peak_bytes", r.peak_bytes},
          {"peak_ns", r.peak_ns},
          {"exact", r.exact && !r.has_gaps},
          {"moment", r.moment},
          {"filter", r.filter},
          {"others_added", r.others},
          {"is_dump", r.is_dump},
          {"dump", DumpJson(r)}};
}

Json EntityJson(const Profile& profile, const Entities& entities, EntityId id) {
  if (id == kNone) return {{"function", "(unknown stack)"}};
  const Entity& entity = entities[id];
  const Function& function = profile.functions[entity.function];
  const Granularity granularity = entities.granularity();
  Json json = Json::Object();
  if (!entities.joins_calls()) json["function"] = function.name;
  if (granularity != Granularity::kModules) json["file"] = function.file;
  // A function of a header can be in many modules, one without a file is in this one.
  if (entity.module != kNone && (granularity == Granularity::kModules ||
                                 granularity == Granularity::kAddresses || function.file.empty())) {
    json["module"] = profile.modules[entity.module].path;
  }
  if (granularity == Granularity::kAddresses) {
    const Location& location = profile.locations[entity.location];
    json["address"] = location.address;
    if (location.module != kNone) {
      json["offset"] = location.address - profile.modules[location.module].load_bias;
    }
  }
  return json;
}

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
