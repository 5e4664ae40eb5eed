#include "core/report/top.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/analysis/interval.h"
#include "core/base/symbol_name.h"
#include "core/base/text.h"
#include "core/report/recording_text.h"

namespace heapgauge {
namespace {

// The columns before the function, each with its gap.
constexpr size_t kLive = 9;
constexpr size_t kRange = 16;
constexpr size_t kShare = 7;
constexpr size_t kObjects = 11;
constexpr size_t kAllocated = 10;
constexpr size_t kPlusMinus = 7;
constexpr size_t kAge = 7;
constexpr size_t kLeft = kLive + kRange + kShare + kObjects + kAllocated + kPlusMinus + kAge + 2;

std::string Place(const Profile& profile, const FunctionRow& row) {
  if (row.frame == kNone) return "";
  const Frame& frame = profile.frames[row.frame];
  const std::string_view file = BaseName(profile.functions[frame.function].file);
  if (file.empty()) return "";
  if (frame.line == 0) return fmt::format("({})", file);
  return fmt::format("({}:{})", file, frame.line);
}

// Name and place in `width` columns; the place is kept whole where it can be.
std::string FunctionText(const Profile& profile, const FunctionRow& row, size_t width) {
  if (row.function == kNone) return "(unknown stack)";
  const std::string& name = profile.functions[row.function].name;
  const std::string place = Place(profile, row);
  constexpr size_t kShortestName = 16;
  if (place.empty() || DisplayWidth(place) + 1 + kShortestName > width) return FitName(name, width);
  return FitName(name, width - DisplayWidth(place) - 1) + " " + place;
}

std::string RowText(const Profile& profile, const FunctionRow& row, const HeapFigures& total,
                    const TopOptions& options) {
  const HeapFigures& f = options.cumulative ? row.cum : row.flat;
  const Interval live = Interval95(f.live_bytes);
  const Interval allocated = Interval95(f.allocated_bytes);
  const bool by_allocated = options.sort == SortKey::kAllocated;
  const uint64_t now = profile.recording.duration_ns;
  const bool has_live = f.live_samples != 0;
  const std::string share = by_allocated
                                ? FormatShare(f.allocated_bytes.value, total.allocated_bytes.value)
                                : FormatShare(f.live_bytes.value, total.live_bytes.value);
  std::string line;
  line += PadLeft(has_live ? FormatBytes(f.live_bytes.value) : "-", kLive);
  line += PadLeft(has_live ? FormatByteRange(live.low, live.high) : "", kRange);
  line += PadLeft(share, kShare);
  line += PadLeft(has_live ? FormatCount(f.live_objects) : "-", kObjects);
  line += PadLeft(FormatBytes(f.allocated_bytes.value), kAllocated);
  line +=
      PadLeft(FormatPlusMinus(f.allocated_bytes.value, allocated.low, allocated.high), kPlusMinus);
  line += PadLeft(f.aged_bytes > 0 ? FormatDuration(f.MeanAge(now)) : "-", kAge);
  const size_t room = std::max<size_t>(options.width, kLeft + 24) - kLeft;
  line += "  " + FunctionText(profile, row, room) + "\n";
  return line;
}

}  // namespace

std::string TopText(const Profile& profile, const FunctionReport& report,
                    const std::vector<std::string>& notes, const TopOptions& options) {
  std::string text = RecordingText(profile, report.total, notes, options.width);
  if (report.selected.samples != report.total.samples ||
      report.selected.live_samples != report.total.live_samples) {
    text +=
        fmt::format("{:<11}{} live, {} of the total; shares are of the total\n", "selected",
                    FormatBytes(report.selected.live_bytes.value),
                    FormatShare(report.selected.live_bytes.value, report.total.live_bytes.value));
  }
  text += '\n';
  if (report.rows.empty()) {
    return text + "No samples yet: the program has allocated less than about one interval" +
           (report.total.samples != 0 ? ", or the filter leaves nothing.\n" : ".\n");
  }
  text += PadLeft("live", kLive) + PadLeft("95 % range", kRange) + PadLeft("share", kShare) +
          PadLeft("objects", kObjects) + PadLeft("allocated", kAllocated) +
          PadLeft("±", kPlusMinus) + PadLeft("age", kAge) + "  " +
          (options.cumulative ? "function and what it calls" : "function") + "\n";
  const size_t shown = std::min(options.rows, report.rows.size());
  for (size_t i = 0; i < shown; ++i)
    text += RowText(profile, report.rows[i], report.total, options);
  if (shown < report.rows.size()) {
    text += fmt::format("... {} more functions (-n {} shows all)\n", report.rows.size() - shown,
                        report.rows.size());
  }
  return text;
}

}  // namespace heapgauge
