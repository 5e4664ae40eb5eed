// The timeline for scripts: JSON and CSV of report/timeline.h.

#include <numeric>

#include "core/base/json.h"
#include "core/report/csv.h"
#include "core/report/views/timeline.h"

namespace heapgauge {
namespace {

Json MomentJson(const Timeline::Moment& moment, const Timeline& timeline) {
  Json json = Json::Object();
  if (timeline.knows_time) json["time_ns"] = moment.time_ns;
  json["live_bytes"] = moment.bytes;
  if (moment.blocks) json["live_blocks"] = *moment.blocks;
  if (timeline.axis != TimeAxis::kTime) json["at"] = moment.at;
  return json;
}

void AddMemory(const TimelineStep& step, Json* point) {
  const auto add = [&](const char* name, uint64_t value) {
    if (value > 0) (*point)[name] = value;
  };
  add("resident_bytes", step.resident_bytes);
  add("proportional_bytes", step.proportional_bytes);
  add("swapped_bytes", step.swapped_bytes);
  add("cgroup_bytes", step.cgroup_bytes);
  add("cgroup_limit", step.cgroup_limit);
}

Json NumbersJson(const std::vector<uint64_t>& values) {
  Json list = Json::Array();
  for (const uint64_t value : values) list.Add(value);
  return list;
}

Json LaneJson(const Timeline::Lane& lane) {
  const auto sum = [](const std::vector<uint64_t>& values) {
    return std::accumulate(values.begin(), values.end(), uint64_t{0});
  };
  Json json = {{"thread", lane.is_rest ? Json(nullptr) : Json(lane.thread)},
               {"thread_name", lane.name},
               {"threads", lane.threads},
               {"allocated_bytes", sum(lane.allocated_bytes)},
               {"allocated_blocks", sum(lane.allocated_blocks)},
               {"freed_bytes", sum(lane.freed_bytes)}};
  json["over_time"] = {{"allocated_bytes", NumbersJson(lane.allocated_bytes)},
                       {"allocated_blocks", NumbersJson(lane.allocated_blocks)},
                       {"freed_bytes", NumbersJson(lane.freed_bytes)}};
  return json;
}

}  // namespace

std::string TimelineJson(const Timeline& timeline) {
  const RecordingFacts& r = timeline.recording;
  Json json = {{"program", r.program},
               {"command_line", Json(r.command_line)},
               {"pid", r.pid},
               {"unit", TimeAxisName(timeline.axis)},
               {"exact", timeline.exact && !r.has_gaps}};
  if (timeline.knows_time) {
    json["from_ns"] = timeline.from_ns;
    json["to_ns"] = timeline.to_ns;
  }
  json["peak"] = MomentJson(timeline.peak, timeline);
  json["end"] = MomentJson(timeline.last, timeline);
  if (!r.filter.empty()) json["filter"] = r.filter;
  if (timeline.axis != TimeAxis::kTime) {
    json["from"] = timeline.from;
    json["to"] = timeline.to;
  }
  if (timeline.knows_flow) {
    json["allocated_bytes"] = timeline.sum.allocated_bytes;
    json["freed_bytes"] = timeline.sum.freed_bytes;
    if (timeline.exact) {
      json["allocated_blocks"] = timeline.sum.allocated_blocks;
      json["freed_blocks"] = timeline.sum.freed_blocks;
    }
  }
  if (timeline.sum.resident_bytes > 0) json["most_resident_bytes"] = timeline.sum.resident_bytes;
  if (timeline.sum.cgroup_limit > 0) json["cgroup_limit"] = timeline.sum.cgroup_limit;
  Json points = Json::Array();
  for (const TimelineStep& step : timeline.steps) {
    Json point = Json::Object();
    if (timeline.axis != TimeAxis::kTime) point["at"] = step.end;
    if (timeline.knows_time) point["time_ns"] = step.time_ns;
    point["live_bytes"] = step.live_bytes;
    if (timeline.knows_blocks) point["live_blocks"] = step.live_blocks;
    if (timeline.exact) {
      point["most_bytes"] = step.most_bytes;
      point["least_bytes"] = step.least_bytes;
    }
    if (timeline.knows_flow) {
      point["allocated_bytes"] = step.allocated_bytes;
      point["freed_bytes"] = step.freed_bytes;
      if (timeline.exact) {
        point["allocated_blocks"] = step.allocated_blocks;
        point["freed_blocks"] = step.freed_blocks;
      }
    }
    AddMemory(step, &point);
    points.Add(std::move(point));
  }
  json["points"] = std::move(points);
  Json markers = Json::Array();
  for (const Timeline::Marker& marker : timeline.markers) {
    Json one = {{"time_ns", marker.time_ns}, {"text", marker.text}};
    if (timeline.axis != TimeAxis::kTime) one["at"] = marker.at;
    markers.Add(std::move(one));
  }
  json["markers"] = std::move(markers);
  if (!timeline.bands.empty()) {
    Json stacks = Json::Array();
    for (const Timeline::Band& band : timeline.bands) {
      stacks.Add({{"frames", Json(band.frames)},
                  {"peak_bytes", band.peak_bytes},
                  {"most_bytes", NumbersJson(band.most)}});
    }
    json["stacks"] = std::move(stacks);
  }
  if (!timeline.lanes.empty()) {
    Json threads = Json::Array();
    for (const Timeline::Lane& lane : timeline.lanes) threads.Add(LaneJson(lane));
    json["threads"] = std::move(threads);
  }
  json["notes"] = Json(timeline.notes);
  return json.Text();
}

std::string TimelineCsv(const Timeline& timeline) {
  Csv csv;
  const bool has_axis = timeline.axis != TimeAxis::kTime;
  if (has_axis) csv.Text(TimeAxisName(timeline.axis));
  for (const char* heading :
       {"time_ns", "live_bytes", "live_blocks", "most_bytes", "least_bytes", "allocated_bytes",
        "allocated_blocks", "freed_bytes", "freed_blocks", "resident_bytes"}) {
    csv.Text(heading);
  }
  for (const Timeline::Band& band : timeline.bands) {
    csv.Text(band.frames.empty() ? "(unknown stack)" : band.frames.front());
  }
  csv.EndRow();
  const bool knows_block_flow = timeline.knows_flow && timeline.exact;
  for (size_t i = 0; i < timeline.steps.size(); ++i) {
    const TimelineStep& step = timeline.steps[i];
    if (has_axis) csv.Number(step.end);
    const auto add = [&csv](bool is_known, uint64_t value) {
      is_known ? csv.Number(value) : csv.Empty();
    };
    add(timeline.knows_time, step.time_ns);
    add(true, step.live_bytes);
    add(timeline.knows_blocks, step.live_blocks);
    add(timeline.exact, step.most_bytes);
    add(timeline.exact, step.least_bytes);
    add(timeline.knows_flow, step.allocated_bytes);
    add(knows_block_flow, step.allocated_blocks);
    add(timeline.knows_flow, step.freed_bytes);
    add(knows_block_flow, step.freed_blocks);
    add(step.resident_bytes > 0, step.resident_bytes);
    for (const Timeline::Band& band : timeline.bands) csv.Number(band.most[i]);
    csv.EndRow();
  }
  return csv.Take();
}

}  // namespace heapgauge
