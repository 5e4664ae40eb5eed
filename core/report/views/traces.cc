#include "core/report/views/traces.h"
#include "core/base/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/text.h"
#include "core/fold/call_tree.h"
#include "core/fold/frames.h"
#include "core/fold/statistics.h"
#include "core/report/csv.h"
#include "core/report/recording_text.h"
#include "core/report/report_json.h"
#include "core/report/value_text.h"

namespace heapgauge {
namespace {

struct Trace {
  RowId row = kNone;  // one of the stack
  bool truncated = false;
  HeapFigures figures;
};

struct Chosen {
  Measures measures;
  Entities entities;
  HeapFigures total;
  std::vector<Trace> traces;  // sorted
};

Result<Chosen> Choose(const Profile& profile, const TracesOptions& options) {
  HG_ASSIGN(const std::vector<bool> selected,
            SelectRows(profile, options.filter, options.granularity));
  Chosen chosen;
  chosen.measures = MeasuresOf(profile);
  chosen.entities = Entities(profile, options.granularity);
  const std::vector<HeapFigures> figures = FiguresOfRows(profile);
  const CallTree tree = BuildCallTree(profile, chosen.entities, selected);
  std::vector<uint32_t> trace_of(tree.nodes.size(), kNone);
  for (RowId row = 0; row < profile.rows.size(); ++row) {
    chosen.total.Add(figures[row]);
    if (!selected[row]) continue;
    uint32_t& trace = trace_of[tree.node_of_row[row]];
    if (trace == kNone) {
      trace = static_cast<uint32_t>(chosen.traces.size());
      chosen.traces.push_back({row, profile.rows[row].truncated, {}});
    }
    chosen.traces[trace].figures.Add(figures[row]);
  }
  const uint64_t now = profile.recording.duration_ns;
  std::stable_sort(chosen.traces.begin(), chosen.traces.end(), [&](const Trace& a, const Trace& b) {
    // What a difference lost is as much worth a look as what it gained.
    return std::fabs(SortValue(a.figures, options.sort, now)) >
           std::fabs(SortValue(b.figures, options.sort, now));
  });
  return chosen;
}

struct TraceFrame {
  EntityId entity;
  uint32_t frame;
};

// Innermost first, without the frames that only allocate.
void FramesOf(const Profile& profile, const Entities& entities, RowId row,
              const std::vector<uint32_t>& allocation_frames, std::vector<TraceFrame>* frames) {
  frames->clear();
  const FramePlace flat = FlatFrame(profile, row, allocation_frames);
  uint32_t k = flat.k;
  for (NodeId node = flat.node; node != kNone; node = profile.nodes[node].parent) {
    const LocationId id = profile.nodes[node].location;
    const Location& location = profile.locations[id];
    for (; k < location.frame_count; ++k) {
      const EntityId entity = entities.Of(id, k);
      if (entities.joins_calls() && !frames->empty() && frames->back().entity == entity) continue;
      frames->push_back({entity, location.first_frame + k});
    }
    k = 0;
  }
}

// Which entities the first `count` stacks name, each once.
std::vector<EntityId> ShownIn(const Profile& profile, const Chosen& chosen, size_t count,
                              const std::vector<uint32_t>& allocation_frames) {
  std::vector<bool> seen(chosen.entities.size());
  std::vector<EntityId> shown;
  std::vector<TraceFrame> stack;
  for (size_t i = 0; i < count; ++i) {
    FramesOf(profile, chosen.entities, chosen.traces[i].row, allocation_frames, &stack);
    for (const TraceFrame& frame : stack) {
      if (!seen[frame.entity]) shown.push_back(frame.entity);
      seen[frame.entity] = true;
    }
  }
  return shown;
}

StyledText FrameText(const Profile& profile, const std::string& label, const TraceFrame& at,
                     const TracesOptions& options) {
  const Frame& frame = profile.frames[at.frame];
  const size_t room = std::max<size_t>(options.layout.width, 24) - 4;
  const bool joins =
      options.granularity == Granularity::kFiles || options.granularity == Granularity::kModules;
  const std::string mark = frame.inlined && !joins ? " (inlined)" : "";
  const size_t left = room > mark.size() + 16 ? room - mark.size() : room;
  // The whole path where there is room for it, as a person or an editor can go there.
  std::string place = PlaceOf(profile, options.granularity, at.frame);
  const std::string& file = profile.functions[frame.function].file;
  if (options.granularity == Granularity::kFunctions) place = std::string(BaseName(file));
  if (!place.empty()) {
    const std::string whole = file.substr(0, file.size() - BaseName(file).size()) + place;
    if (DisplayWidth(label) + 1 + DisplayWidth(whole) <= left) place = whole;
  }
  StyledText text = FitLabel(label, place, options.granularity, left, options.layout);
  if (left < room) text.Add(mark, Style::kDim);
  return text;
}

StyledText HeadOf(const Trace& trace, const HeapFigures& total, const Measures& m, uint64_t now) {
  const HeapFigures& f = trace.figures;
  const Interval live = Interval95(f.live_bytes);
  StyledText text("\n");
  text.Add(FormatMain(f.live_bytes.value, m) + " " + m.name, Style::kNumber);
  const bool sampled = f.live_bytes.variance > 0 || m.has_samples;
  if (sampled) {
    text.Add(fmt::format(" ({})", FormatValueRange(live.low, live.high, m.unit)), Style::kDim);
  }
  text.Add(fmt::format(", {}", FormatShare(f.live_bytes.value, total.live_bytes.value)));
  if (m.has_objects()) {
    text.Add(
        fmt::format(", {}{} objects", sampled ? "about " : "", FormatMainCount(f.live_objects, m)));
  }
  if (m.has_samples) {
    text.Add(fmt::format(", {} samples", FormatCount(static_cast<double>(f.live_samples))));
  }
  if (m.has_allocated()) {
    text.Add(fmt::format("; allocated {}", FormatBytes(f.allocated_bytes.value)));
  }
  if (f.aged_bytes > 0) {
    text.Add(fmt::format("; age {}, oldest {}", FormatDuration(f.MeanAge(now)),
                         FormatDuration(f.OldestAge(now))));
  }
  return text.Add("\n");
}

}  // namespace

Status WriteTraces(const Profile& profile, const std::vector<std::string>& notes,
                   const TracesOptions& options, const TextLook& look, TextSink* out) {
  const auto write = [&](const StyledText& piece) { return out->Write(Render(piece, look)); };
  HG_ASSIGN(const Chosen chosen, Choose(profile, options));
  const std::vector<uint32_t> allocation_frames = CountAllocationFrames(profile);
  HG_TRY(write(RecordingText(profile, chosen.total, notes, options.layout)));
  const size_t count = std::min(options.rows, chosen.traces.size());
  const Labels labels(profile, chosen.entities, ShownIn(profile, chosen, count, allocation_frames),
                      options.names, options.layout);
  std::vector<TraceFrame> stack;
  for (size_t i = 0; i < count; ++i) {
    const Trace& trace = chosen.traces[i];
    StyledText text = HeadOf(trace, chosen.total, chosen.measures, profile.recording.duration_ns);
    FramesOf(profile, chosen.entities, trace.row, allocation_frames, &stack);
    for (const TraceFrame& frame : stack) {
      text.Add("    ").Add(FrameText(profile, labels[frame.entity], frame, options)).Add("\n");
    }
    if (stack.empty()) {
      text.Add("    (unknown stack)\n");
    } else if (trace.truncated) {
      text.Add("    (outer frames missing)\n", Style::kDim);
    }
    HG_TRY(write(text));
  }
  if (count == 0) HG_TRY(write(StyledText("\n").Add(NothingText(profile.recording))));
  if (count < chosen.traces.size()) {
    HG_TRY(write(
        StyledText(fmt::format("\n{} {} more stacks (-n {} shows all)\n", options.layout.ellipsis(),
                               FormatCount(static_cast<double>(chosen.traces.size() - count)),
                               chosen.traces.size()),
                   Style::kDim)));
  }
  return {};
}

Status WriteTracesJson(const Profile& profile, const TracesOptions& options, TextSink* out) {
  HG_ASSIGN(const Chosen chosen, Choose(profile, options));
  const Json about = ProfileJson(profile, chosen.measures);
  HG_TRY(out->Write(fmt::format("{{\"profile\": {},\n\"stack_count\": {},\n\"stacks\": [",
                                about.Line(), chosen.traces.size())));
  std::vector<LocationId> stack;
  for (size_t i = 0; i < std::min(options.rows, chosen.traces.size()); ++i) {
    const Trace& trace = chosen.traces[i];
    Json entry = FiguresJson(trace.figures, chosen.measures, profile.recording);
    entry["truncated"] = trace.truncated;
    Json frames = Json::Array();
    profile.StackOf(trace.row, &stack);
    for (const LocationId id : stack) {
      const Location& location = profile.locations[id];
      for (uint32_t k = 0; k < location.frame_count; ++k) {
        const Frame& frame = profile.frames[location.first_frame + k];
        const Function& function = profile.functions[frame.function];
        Json json = {{"function", function.name}, {"address", location.address}};
        if (!function.file.empty()) json["file"] = function.file;
        if (frame.line != 0) json["line"] = frame.line;
        if (frame.inlined) json["inlined"] = true;
        if (location.module != kNone) json["module"] = profile.modules[location.module].path;
        frames.Add(std::move(json));
      }
    }
    entry["frames"] = std::move(frames);
    HG_TRY(out->Write((i == 0 ? "\n" : ",\n") + entry.Line()));
  }
  return out->Write("\n]}\n");
}

Status WriteTracesCsv(const Profile& profile, const TracesOptions& options, TextSink* out) {
  HG_ASSIGN(const Chosen chosen, Choose(profile, options));
  const std::vector<uint32_t> allocation_frames = CountAllocationFrames(profile);
  const size_t count = std::min(options.rows, chosen.traces.size());
  const Labels labels(profile, chosen.entities, ShownIn(profile, chosen, count, allocation_frames),
                      options.names, options.layout);
  Csv csv;
  AddFigureHeadings(chosen.measures, "", &csv);
  csv.Text("stack").EndRow();
  std::vector<TraceFrame> stack;
  for (size_t i = 0; i < count; ++i) {
    AddFigures(chosen.traces[i].figures, chosen.measures, &csv);
    FramesOf(profile, chosen.entities, chosen.traces[i].row, allocation_frames, &stack);
    std::string names;
    for (size_t k = stack.size(); k-- > 0;) {
      std::string name = labels[stack[k].entity];
      std::replace(name.begin(), name.end(), ';', ':');
      if (!names.empty()) names += ';';
      names += name;
      if (options.granularity == Granularity::kLines) {
        const std::string place = PlaceOf(profile, options.granularity, stack[k].frame);
        if (!place.empty()) names += " " + place;
      }
    }
    csv.Text(names.empty() ? "(unknown stack)" : names).EndRow();
    HG_TRY(out->Write(csv.Take()));
  }
  return count == 0 ? out->Write(csv.Take()) : Status();
}

}  // namespace heapgauge
