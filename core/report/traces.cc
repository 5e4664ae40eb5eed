#include "core/report/traces.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/analysis/allocation_frames.h"
#include "core/analysis/interval.h"
#include "core/base/symbol_name.h"
#include "core/base/text.h"
#include "core/report/recording_text.h"

namespace heapgauge {
namespace {

struct Chosen {
  std::vector<HeapFigures> figures;  // of all rows
  HeapFigures total;
  std::vector<RowId> rows;  // sorted
};

Result<Chosen> Choose(const Profile& profile, const TracesOptions& options) {
  HG_ASSIGN(const std::vector<bool> selected, SelectRows(profile, options.filter));
  Chosen chosen;
  chosen.figures = FiguresOfRows(profile);
  for (RowId row = 0; row < profile.rows.size(); ++row) {
    chosen.total.Add(chosen.figures[row]);
    if (selected[row]) chosen.rows.push_back(row);
  }
  const uint64_t now = profile.recording.duration_ns;
  std::stable_sort(chosen.rows.begin(), chosen.rows.end(), [&](RowId a, RowId b) {
    return SortValue(chosen.figures[a], options.sort, now) >
           SortValue(chosen.figures[b], options.sort, now);
  });
  return chosen;
}

std::string FrameText(const Profile& profile, const Frame& frame, size_t width) {
  const Function& function = profile.functions[frame.function];
  std::string place;
  if (!function.file.empty()) {
    place = " " + function.file + (frame.line != 0 ? fmt::format(":{}", frame.line) : "");
  }
  if (frame.inlined) place += " (inlined)";
  const size_t room = std::max<size_t>(width, 40);
  // A long path gives way to its last component before the name is cut.
  if (DisplayWidth(place) + 24 > room && !function.file.empty()) {
    place = " " + std::string(BaseName(function.file)) +
            (frame.line != 0 ? fmt::format(":{}", frame.line) : "");
  }
  return FitName(function.name, room - std::min(room - 8, DisplayWidth(place))) + place;
}

}  // namespace

Result<std::string> TracesText(const Profile& profile, const std::vector<std::string>& notes,
                               const TracesOptions& options) {
  HG_ASSIGN(const Chosen chosen, Choose(profile, options));
  const std::vector<uint32_t> allocation_frames = CountAllocationFrames(profile);
  std::string text = RecordingText(profile, chosen.total, notes, options.width);
  const uint64_t now = profile.recording.duration_ns;
  const size_t shown = std::min(options.rows, chosen.rows.size());
  std::vector<LocationId> stack;
  for (size_t i = 0; i < shown; ++i) {
    const RowId row = chosen.rows[i];
    const HeapFigures& f = chosen.figures[row];
    const Interval live = Interval95(f.live_bytes);
    text += fmt::format(
        "\n{} live ({}), {}, about {} objects, {} samples; allocated {}",
        FormatBytes(f.live_bytes.value), FormatByteRange(live.low, live.high),
        FormatShare(f.live_bytes.value, chosen.total.live_bytes.value), FormatCount(f.live_objects),
        FormatCount(static_cast<double>(f.live_samples)), FormatBytes(f.allocated_bytes.value));
    if (f.aged_bytes > 0) {
      text += fmt::format("; age {}, oldest {}", FormatDuration(f.MeanAge(now)),
                          FormatDuration(f.OldestAge(now)));
    }
    text += '\n';
    profile.StackOf(row, &stack);
    bool allocating = true;  // frames that only allocate are left out at the inner end
    for (const LocationId id : stack) {
      const Location& location = profile.locations[id];
      const uint32_t skipped = allocating ? allocation_frames[id] : 0;
      allocating = allocating && skipped == location.frame_count;
      for (uint32_t k = skipped; k < location.frame_count; ++k) {
        text += "    " +
                FrameText(profile, profile.frames[location.first_frame + k], options.width - 4) +
                "\n";
      }
    }
    if (stack.empty()) text += "    (unknown stack)\n";
    if (profile.rows[row].truncated && !stack.empty()) text += "    (outer frames missing)\n";
  }
  if (shown == 0) text += "\nNo samples.\n";
  if (shown < chosen.rows.size()) {
    text += fmt::format("\n... {} more stacks (-n {} shows all)\n", chosen.rows.size() - shown,
                        chosen.rows.size());
  }
  return text;
}

Result<std::string> TracesJson(const Profile& profile, const TracesOptions& options) {
  using Json = nlohmann::ordered_json;
  HG_ASSIGN(const Chosen chosen, Choose(profile, options));
  Json rows = Json::array();
  std::vector<LocationId> stack;
  const uint64_t now = profile.recording.duration_ns;
  for (size_t i = 0; i < std::min(options.rows, chosen.rows.size()); ++i) {
    const RowId row = chosen.rows[i];
    const HeapFigures& f = chosen.figures[row];
    const Interval live = Interval95(f.live_bytes);
    const Interval allocated = Interval95(f.allocated_bytes);
    Json entry = {
        {"live_bytes", {{"value", f.live_bytes.value}, {"low", live.low}, {"high", live.high}}},
        {"live_objects", f.live_objects},
        {"allocated_bytes",
         {{"value", f.allocated_bytes.value}, {"low", allocated.low}, {"high", allocated.high}}},
        {"allocated_objects", f.allocated_objects},
        {"samples", f.samples},
        {"live_samples", f.live_samples},
        {"truncated", profile.rows[row].truncated}};
    if (f.aged_bytes > 0) {
      entry["mean_age_ns"] = f.MeanAge(now);
      entry["oldest_age_ns"] = f.OldestAge(now);
    }
    Json frames = Json::array();
    profile.StackOf(row, &stack);
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
        frames.push_back(std::move(json));
      }
    }
    entry["frames"] = std::move(frames);
    rows.push_back(std::move(entry));
  }
  const Json json = {{"stack_count", chosen.rows.size()}, {"stacks", std::move(rows)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace heapgauge
