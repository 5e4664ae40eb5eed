#include "core/report/views/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/base/json.h"
#include "core/base/text.h"
#include "core/report/csv.h"
#include "core/report/draw/timeline_graph.h"
#include "core/report/recording_text.h"
#include "core/report/value_text.h"

namespace heapgauge {
namespace {

using figures::Bytes;
using figures::Count;

constexpr size_t kFewestColumns = 20;

class Report {
 public:
  Report(const Timeline& timeline, const TimelineOptions& options)
      : timeline_(timeline), options_(options), length_(timeline.to - timeline.from) {
    const size_t columns = TimelineColumns(options);
    if (timeline.steps.size() != columns) resampled_ = InSteps(timeline, columns);
  }

  StyledText Take() {
    Title();
    Totals();
    for (const std::string& note : timeline_.notes) {
      text_.Add("note: ", Style::kWarning).Add(note).Add("\n");
    }
    text_.Add("\n");
    text_.Add(LiveGraph(drawn(), options_.rows, utf8()));
    MarkerList();
    Resident();
    Flow();
    Bands();
    Lanes();
    return std::move(text_);
  }

 private:
  const Timeline& drawn() const { return resampled_.steps.empty() ? timeline_ : resampled_; }
  bool utf8() const { return options_.layout.utf8; }
  size_t width() const { return options_.layout.width; }

  void Line(const char* label, const std::string& words) {
    text_.AddRight(label, 11, Style::kLabel).Add(words).Add("\n");
  }
  std::string Place(uint64_t at) const { return PlaceOn(timeline_.axis, at, length_); }

  void Title() {
    const RecordingFacts& r = timeline_.recording;
    text_.Add(r.program.empty() ? "a program" : Printable(r.name()), Style::kTitle);
    if (IsRecorded(r)) text_.Add(fmt::format("  pid {}  {}", r.pid, StateText(r)));
    const std::string command = r.command();
    const size_t used = DisplayWidth(text_.text()) + 2;
    if (!command.empty() && used + 16 <= width()) {
      text_.Add("  ").Add(CutTo(Printable(command), width() - used), Style::kDim);
    }
    text_.Add("\n");
  }

  std::string BlocksIn(uint64_t blocks) const {
    return blocks > 0 ? " in " + Count(blocks) + " blocks" : "";
  }

  // The memory of a process cannot be told apart by blocks.
  const char* OfAll() const {
    return timeline_.recording.filter.empty() ? "" : ", of the whole process";
  }

  void Totals() {
    const std::string& filter = timeline_.recording.filter;
    if (!filter.empty()) Line("filter", CutTo(filter, std::max<size_t>(width(), 31) - 11));
    const char* about = timeline_.exact || timeline_.recording.interval <= 1 ? "" : "about ";
    const Timeline::Moment& peak = timeline_.peak;
    const Timeline::Moment& last = timeline_.last;
    Line("live", fmt::format("{}{} at the peak{}, {}{} at the end{}", about, Bytes(peak.bytes),
                             BlocksIn(peak.blocks.value_or(0)), about, Bytes(last.bytes),
                             BlocksIn(last.blocks.value_or(0))));
    const TimelineStep& sum = timeline_.sum;
    if (timeline_.knows_flow) {
      Line("allocated", fmt::format("{}{}{}, {} freed{}{}", about, Bytes(sum.allocated_bytes),
                                    BlocksIn(sum.allocated_blocks), Bytes(sum.freed_bytes),
                                    BlocksIn(sum.freed_blocks), Span()));
    }
    if (sum.resident_bytes > 0) {
      Line("RSS", fmt::format("{} at the most{}{}", Bytes(sum.resident_bytes),
                              ResidentFits(timeline_) ? std::string(", the line in the graph") : "",
                              OfAll()));
    }
    if (sum.cgroup_limit > 0) {
      Line("cgroup", fmt::format("{} at the most, of {} that it may have", Bytes(sum.cgroup_bytes),
                                 Bytes(sum.cgroup_limit)));
    }
  }

  // Which part of the whole this is, or how long it is.
  std::string Span() const {
    if (timeline_.axis != TimeAxis::kTime && timeline_.to_ns > timeline_.from_ns) {
      return ", within " + PlaceOn(TimeAxis::kTime, timeline_.to_ns - timeline_.from_ns,
                                   timeline_.to_ns - timeline_.from_ns);
    }
    // The first point of a gauge file is never at the very beginning.
    if (timeline_.from <= length_ / 20 || timeline_.axis != TimeAxis::kTime) return "";
    return ", from " + Place(timeline_.from) + " to " + Place(timeline_.to);
  }

  void MarkerList() {
    for (size_t i = 0; i < timeline_.markers.size() && i < kNamedMarkers; ++i) {
      const Timeline::Marker& marker = timeline_.markers[i];
      text_.AddLeft(std::string(1, static_cast<char>('a' + i)), kGutter - 1, Style::kNumber);
      text_.Add(" ").AddLeft(Place(marker.at), 8, Style::kDim).Add("  ");
      text_.Add(CutTo(Printable(marker.text), std::max<size_t>(width(), 50) - 30)).Add("\n");
    }
    if (timeline_.markers.size() > kNamedMarkers) {
      text_.AddRight("", kGutter)
          .Add(fmt::format("and {} more marks\n", timeline_.markers.size() - kNamedMarkers),
               Style::kDim);
    }
  }

  void Resident() {
    if (timeline_.sum.resident_bytes == 0 || ResidentFits(timeline_)) return;
    std::vector<uint64_t> values;
    for (const TimelineStep& step : drawn().steps) values.push_back(step.resident_bytes);
    text_.Add("\n");
    text_.Add(BarLine("RSS", values, timeline_.sum.resident_bytes, Style::kWarning, utf8()));
  }

  // Both lines have the same scale, so that they can be compared.
  void Flow() {
    if (!timeline_.knows_flow) return;
    std::vector<uint64_t> allocated;
    std::vector<uint64_t> freed;
    uint64_t most = 0;
    for (const TimelineStep& step : drawn().steps) {
      allocated.push_back(step.allocated_bytes);
      freed.push_back(step.freed_bytes);
      most = std::max({most, step.allocated_bytes, step.freed_bytes});
    }
    if (most == 0) return;
    text_.Add("\n");
    text_.Add(BarLine("allocated", allocated, most, Style::kGrowth, utf8()));
    text_.Add(BarLine("freed", freed, most, Style::kShrink, utf8()));
    std::string scale = "a full bar is " + Bytes(most);
    if (timeline_.axis == TimeAxis::kTime && length_ > 0) {
      const double seconds =
          static_cast<double>(length_) / 1e9 / static_cast<double>(allocated.size());
      scale = "a full bar is " + FormatBytes(static_cast<double>(most) / seconds) + " a second";
    }
    text_.AddRight("", kGutter).Add(scale, Style::kDim).Add("\n");
  }

  void Bands() {
    if (timeline_.bands.empty()) return;
    const char* arrow = utf8() ? " \u2190 " : " < ";
    text_.Add("\n").Add("Stacks that were largest at the peak", Style::kHeading).Add("\n");
    for (const Timeline::Band& band : drawn().bands) {
      const uint64_t most =
          band.most.empty() ? 0 : *std::max_element(band.most.begin(), band.most.end());
      text_.Add(BarLine(Bytes(band.peak_bytes), band.most, most, Style::kBar, utf8()));
      std::string words = FormatShare(static_cast<double>(band.peak_bytes),
                                      static_cast<double>(timeline_.peak.bytes));
      if (Bytes(most) != Bytes(band.peak_bytes)) words += ", most " + Bytes(most);
      words += " ";
      text_.AddRight("", kGutter).Add(words, Style::kDim);
      std::string names;
      for (const std::string& frame : band.frames) {
        if (!names.empty()) names += arrow;
        names += frame;
        if (names.size() > width()) break;
      }
      const size_t used = kGutter + DisplayWidth(words);
      text_.Add(
          CutTo(names.empty() ? "(unknown stack)" : names, std::max(width(), used + 20) - used));
      text_.Add("\n");
    }
  }

  // All lines have the same scale, so that threads can be compared.
  void Lanes() {
    if (timeline_.lanes.empty()) return;
    uint64_t most = 0;
    for (const Timeline::Lane& lane : drawn().lanes) {
      for (const uint64_t bytes : lane.allocated_bytes) most = std::max(most, bytes);
    }
    text_.Add("\n").Add("Threads that allocated and freed most often", Style::kHeading).Add("\n");
    for (const Timeline::Lane& lane : drawn().lanes) {
      uint64_t bytes = 0;
      uint64_t blocks = 0;
      for (const uint64_t value : lane.allocated_bytes) bytes += value;
      for (const uint64_t value : lane.allocated_blocks) blocks += value;
      text_.Add(BarLine(Bytes(bytes), lane.allocated_bytes, most, Style::kGrowth, utf8()));
      const std::string name = lane.is_rest
                                   ? fmt::format("{} other threads", Count(lane.threads))
                                   : fmt::format("{} {}", lane.thread, Printable(lane.name));
      text_.AddRight("", kGutter).Add(CutTo(name, 40)).Add("  ");
      text_.Add(Count(blocks) + " blocks", Style::kDim).Add("\n");
    }
  }

  const Timeline& timeline_;
  const TimelineOptions& options_;
  const uint64_t length_;
  Timeline resampled_;
  StyledText text_;
};

}  // namespace

size_t TimelineColumns(const TimelineOptions& options) {
  if (options.columns > 0) return options.columns;
  return std::max(options.layout.width, kGutter + kFewestColumns) - kGutter;
}

StyledText TimelineText(const Timeline& timeline, const TimelineOptions& options) {
  return Report(timeline, options).Take();
}

// The timeline for scripts: JSON and CSV of timeline.h.

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
