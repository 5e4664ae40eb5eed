#include "core/report/draw/timeline_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <vector>

#include "core/base/text.h"
#include "core/fold/frames.h"
#include "core/report/labels.h"

namespace heapgauge {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kMinute = 60 * kSecond;
constexpr uint64_t kHour = 60 * kMinute;
constexpr uint64_t kDay = 24 * kHour;

// The least of 1, 2, 5, 10, 20, 50, ... that is not below.
uint64_t RoundDecimal(uint64_t least) {
  uint64_t power = 1;
  while (power < UINT64_MAX / 100 && power * 10 <= least) power *= 10;
  for (const uint64_t factor : {1, 2, 5, 10}) {
    if (power * factor >= least) return power * factor;
  }
  return power * 10;
}

uint64_t RoundBinary(uint64_t least) {
  uint64_t power = 1;
  while (power < least && power < UINT64_C(1) << 62) power *= 2;
  return power;
}

uint64_t RoundTime(uint64_t least) {
  if (least <= 10 * kSecond) return RoundDecimal(least);
  static constexpr uint64_t kSteps[] = {15 * kSecond, 20 * kSecond, 30 * kSecond, kMinute,
                                        2 * kMinute,  5 * kMinute,  10 * kMinute, 15 * kMinute,
                                        30 * kMinute, kHour,        2 * kHour,    3 * kHour,
                                        6 * kHour,    12 * kHour,   kDay};
  for (const uint64_t step : kSteps) {
    if (step >= least) return step;
  }
  return RoundDecimal((least - 1) / kDay + 1) * kDay;
}

// Digits behind the point so that `step` can be told.
int Digits(uint64_t step, uint64_t unit) {
  int digits = 0;
  for (; step < unit && digits < 9; ++digits) unit /= 10;
  return digits;
}

// `most` decides about the unit, so that all marks of an axis have the same one.
std::string TimeText(uint64_t ns, uint64_t step, uint64_t most) {
  const auto in = [&](uint64_t unit, const char* name) {
    return fmt::format("{:.{}f}{}", static_cast<double>(ns) / static_cast<double>(unit),
                       Digits(step, unit), name);
  };
  if (most < 1000) return fmt::format("{}ns", ns);
  if (most < 1'000'000) return in(1000, "us");
  if (most < kSecond) return in(1'000'000, "ms");
  if (ns < kMinute) return in(kSecond, "s");
  if (step >= kMinute && ns >= kDay) {
    return fmt::format("{}d{:02}h{:02}m", ns / kDay, ns % kDay / kHour, ns % kHour / kMinute);
  }
  if (step >= kMinute && ns >= kHour) {
    return fmt::format("{}h{:02}m", ns / kHour, ns % kHour / kMinute);
  }
  const int digits = Digits(step, kSecond);
  // 59.97 seconds must not become 60.0.
  uint64_t unit = kSecond;
  for (int i = 0; i < digits; ++i) unit /= 10;
  ns = (ns + unit / 2) / unit * unit;
  const std::string seconds =
      fmt::format("{:0{}.{}f}s", static_cast<double>(ns % kMinute) / static_cast<double>(kSecond),
                  digits > 0 ? digits + 3 : 2, digits);
  if (ns < kHour) return fmt::format("{}m{}", ns / kMinute, seconds);
  return fmt::format("{}h{:02}m{}", ns / kHour, ns % kHour / kMinute, seconds);
}

std::string RoundCount(uint64_t count) {
  static constexpr const char* kUnits[] = {"", "k", "M", "G", "T", "P", "E"};
  auto value = static_cast<double>(count);
  size_t unit = 0;
  for (; value >= 1000 && unit + 1 < std::size(kUnits); ++unit) value /= 1000;
  return fmt::format("{:.6g}{}", value, kUnits[unit]);
}

}  // namespace

std::string RoundBytes(uint64_t bytes) {
  static constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(kUnits); ++unit) value /= 1024;
  return fmt::format("{:.4g} {}", value, kUnits[unit]);
}

std::vector<Tick> TicksOf(TimeAxis axis, uint64_t from, uint64_t to, size_t most) {
  std::vector<Tick> ticks;
  if (most == 0 || to <= from) return ticks;
  const uint64_t least = std::max<uint64_t>((to - from) / most, 1);
  const uint64_t step = axis == TimeAxis::kTime    ? RoundTime(least)
                        : axis == TimeAxis::kBytes ? RoundBinary(least)
                                                   : RoundDecimal(least);
  for (uint64_t at = from / step * step; at <= to; at += step) {
    if (at >= from) {
      ticks.push_back({at, at == 0                    ? "0"
                           : axis == TimeAxis::kTime  ? TimeText(at, step, to)
                           : axis == TimeAxis::kBytes ? RoundBytes(at)
                                                      : RoundCount(at)});
    }
    if (at > UINT64_MAX - step) break;
  }
  return ticks;
}

std::string PlaceOn(TimeAxis axis, uint64_t at, uint64_t length) {
  switch (axis) {
    case TimeAxis::kTime: {
      uint64_t step = 1;
      while (step < kSecond && step * 10 <= length / 1000) step *= 10;
      return TimeText(at, step, at);
    }
    case TimeAxis::kBytes:
      return FormatBytes(static_cast<double>(at));
    case TimeAxis::kEvents:
    case TimeAxis::kInstructions:
      break;
  }
  return FormatCount(static_cast<double>(at));
}

namespace {

struct Glyphs {
  const char* levels[9];  // eighths of a cell, from none to all
  const char* shade;
  const char* line;  // resident memory
  const char* side;  // of the axis
  const char* tick;
  const char* corner;
  const char* floor;
  const char* floor_tick;
  const char* arrow;
};

const Glyphs& GlyphsFor(bool utf8) {
  static constexpr Glyphs kUtf8 = {
      {" ", "\u2581", "\u2582", "\u2583", "\u2584", "\u2585", "\u2586", "\u2587", "\u2588"},
      "\u2591",
      "\u2500",
      "\u2502",
      "\u2524",
      "\u2514",
      "\u2500",
      "\u252c",
      "\u25bc"};
  static constexpr Glyphs kAscii = {
      {" ", "_", "_", ".", ".", "o", "o", "#", "#"}, ":", "-", "|", "+", "+", "-", "+", "v"};
  return utf8 ? kUtf8 : kAscii;
}

// Lines of cells. A cell is one column wide.
struct Cell {
  const char* glyph = " ";
  Style style = Style::kPlain;
};

class Picture {
 public:
  Picture(const Timeline& timeline, size_t rows, bool utf8)
      : timeline_(timeline),
        rows_(rows),
        columns_(timeline.steps.size()),
        glyphs_(GlyphsFor(utf8)),
        cells_(rows * columns_) {
    most_ = timeline.peak.bytes;
    for (const TimelineStep& step : timeline.steps) most_ = std::max(most_, step.most_bytes);
    if (ResidentFits(timeline)) most_ = std::max(most_, timeline.sum.resident_bytes);
    most_ = std::max<uint64_t>(most_, 1);
  }

  StyledText Text() {
    for (size_t x = 0; x < columns_; ++x) Bar(x);
    if (ResidentFits(timeline_)) Resident();
    StyledText text = PeakLine();
    const std::vector<std::string> labels = Labels();
    for (size_t y = rows_; y-- > 0;) {
      text.AddLeft(labels[y], kGutter - 2, Style::kDim).Add(" ");
      text.Add(labels[y].empty() ? glyphs_.side : glyphs_.tick, Style::kDim);
      for (size_t x = 0; x < columns_; ++x) text.Add(At(x, y).glyph, At(x, y).style);
      text.Add("\n");
    }
    return text.Add(Axis());
  }

 private:
  Cell& At(size_t x, size_t y) { return cells_[y * columns_ + x]; }

  // In cells from the floor.
  double Height(uint64_t bytes) const {
    return static_cast<double>(bytes) / static_cast<double>(most_) * static_cast<double>(rows_);
  }

  size_t ColumnOf(uint64_t at) const {
    if (timeline_.to <= timeline_.from) return columns_ - 1;
    const double share = static_cast<double>(at - std::min(at, timeline_.from)) /
                         static_cast<double>(timeline_.to - timeline_.from);
    // A step has its end, not its beginning.
    const double place = std::ceil(share * static_cast<double>(columns_)) - 1;
    return std::min(static_cast<size_t>(std::max(place, 0.0)), columns_ - 1);
  }

  void Bar(size_t x) {
    const TimelineStep& step = timeline_.steps[x];
    const double solid = Height(std::min(step.least_bytes, step.most_bytes));
    const double shaded = Height(step.most_bytes);
    for (size_t y = 0; y < rows_; ++y) {
      const double floor = static_cast<double>(y);
      const auto eighths =
          static_cast<size_t>(std::lround(8 * std::clamp(solid - floor, 0.0, 1.0)));
      if (eighths > 0) {
        At(x, y) = {glyphs_.levels[eighths], Style::kBar};
      } else if (shaded - floor >= 0.5 || (shaded > solid && shaded > floor && solid <= 0)) {
        At(x, y) = {glyphs_.shade, Style::kBar};
      }
    }
    // Something is live, however little.
    if (step.most_bytes > 0 && At(x, 0).style == Style::kPlain) {
      At(x, 0) = {glyphs_.levels[1], Style::kBar};
    }
  }

  void Resident() {
    for (size_t x = 0; x < columns_; ++x) {
      const uint64_t bytes = timeline_.steps[x].resident_bytes;
      if (bytes == 0) continue;
      const auto y = static_cast<size_t>(std::max(0.0, std::ceil(Height(bytes)) - 1));
      At(x, std::min(y, rows_ - 1)) = {glyphs_.line, Style::kWarning};
    }
  }

  // An arrow over the column of the peak, and what it was, on the side that has room.
  StyledText PeakLine() const {
    const uint64_t length = timeline_.to - timeline_.from;
    std::string words = "peak " + FormatBytes(static_cast<double>(timeline_.peak.bytes));
    if (timeline_.axis != TimeAxis::kTime) {
      words += " after " + PlaceOn(timeline_.axis, timeline_.peak.at, length);
      if (timeline_.axis != TimeAxis::kBytes) {
        words += timeline_.axis == TimeAxis::kEvents ? " events" : " instructions";
      }
    }
    if (timeline_.to_ns > 0) {
      words += " at " + PlaceOn(TimeAxis::kTime, timeline_.peak.time_ns,
                                timeline_.to_ns - timeline_.from_ns);
    }
    const size_t x = ColumnOf(timeline_.peak.at);
    const size_t width = DisplayWidth(words) + 1;
    StyledText text;
    if (x + 1 + width <= columns_) {
      text.AddRight("", kGutter + x).Add(glyphs_.arrow, Style::kNumber);
      text.Add(" ").Add(words, Style::kNumber);
    } else if (x >= width) {
      text.AddRight("", kGutter + x - width).Add(words, Style::kNumber);
      text.Add(" ").Add(glyphs_.arrow, Style::kNumber);
    } else {  // no room for both
      text.AddRight("", kGutter + columns_ - std::min(columns_, width - 1));
      text.Add(words, Style::kNumber);
    }
    return text.Add("\n");
  }

  // What stands beside each row.
  std::vector<std::string> Labels() const {
    std::vector<std::string> labels(rows_);
    for (const Tick& tick : TicksOf(TimeAxis::kBytes, 0, most_, std::max<size_t>(rows_ / 2, 1))) {
      if (tick.at == 0) continue;
      const auto y = static_cast<size_t>(std::max(0.0, std::ceil(Height(tick.at)) - 1));
      labels[std::min(y, rows_ - 1)] = tick.label;
    }
    return labels;
  }

  StyledText Axis() const {
    const std::vector<Tick> ticks =
        TicksOf(timeline_.axis, timeline_.from, timeline_.to, std::max<size_t>(columns_ / 10, 1));
    std::vector<bool> marked(columns_);
    std::string labels;
    size_t used = 0;  // columns of `labels`
    for (const Tick& tick : ticks) {
      const size_t x = ColumnOf(tick.at);
      marked[x] = true;
      const size_t width = DisplayWidth(tick.label);
      const size_t begin =
          std::min(x - std::min(x, width / 2), columns_ - std::min(columns_, width));
      if (begin < used || (used > 0 && begin == used)) continue;
      labels.append(begin - used, ' ');
      labels += tick.label;
      used = begin + width;
    }
    StyledText text;
    text.AddLeft("0", kGutter - 2, Style::kDim).Add(" ").Add(glyphs_.corner, Style::kDim);
    for (size_t x = 0; x < columns_; ++x) {
      text.Add(marked[x] ? glyphs_.floor_tick : glyphs_.floor, Style::kDim);
    }
    text.Add("\n").AddRight("", kGutter).Add(labels, Style::kDim).Add("\n");
    return text.Add(Markers());
  }

  // Letters below the axis; what they stand for is listed elsewhere.
  StyledText Markers() const {
    if (timeline_.markers.empty()) return {};
    std::string line(columns_, ' ');
    for (size_t i = 0; i < timeline_.markers.size(); ++i) {
      char& cell = line[ColumnOf(timeline_.markers[i].at)];
      cell = cell != ' ' ? '*' : i < kNamedMarkers ? static_cast<char>('a' + i) : '+';
    }
    while (!line.empty() && line.back() == ' ') line.pop_back();
    StyledText text;
    return text.AddRight("", kGutter).Add(line, Style::kNumber).Add("\n");
  }

  const Timeline& timeline_;
  const size_t rows_;
  const size_t columns_;
  const Glyphs& glyphs_;
  uint64_t most_ = 1;
  std::vector<Cell> cells_;  // from the floor on
};

}  // namespace

bool ResidentFits(const Timeline& timeline) {
  const uint64_t resident = timeline.sum.resident_bytes;
  return resident > 0 && resident / 3 <= timeline.peak.bytes;
}

StyledText LiveGraph(const Timeline& timeline, size_t rows, bool utf8) {
  return Picture(timeline, rows, utf8).Text();
}

StyledText BarLine(std::string_view label, const std::vector<uint64_t>& values, uint64_t most,
                   Style style, bool utf8) {
  const Glyphs& glyphs = GlyphsFor(utf8);
  StyledText text;
  text.AddLeft(label, kGutter - 2, Style::kLabel).Add(" ").Add(glyphs.side, Style::kDim);
  for (const uint64_t value : values) {
    const double share = most > 0 ? static_cast<double>(value) / static_cast<double>(most) : 0;
    const auto eighths = static_cast<size_t>(std::lround(8 * std::min(share, 1.0)));
    // Little is not nothing.
    text.Add(glyphs.levels[value > 0 ? std::max<size_t>(eighths, 1) : 0], style);
  }
  return text.Add("\n");
}

void NameBands(const trace::TraceFile::Stacks& stacks, trace::TraceTimeline* made) {
  if (made->stacks.empty()) return;
  const Profile& profile = stacks.profile;
  const std::vector<uint32_t> skipped = CountAllocationFrames(profile);
  const std::vector<std::string> names = FrameNames(profile, Granularity::kLines, Names::kShort);
  for (size_t i = 0; i < made->stacks.size(); ++i) {
    const uint32_t stack = made->stacks[i];
    bool begun = false;
    for (NodeId node = stack < stacks.stacks.size() ? stacks.stacks[stack].leaf : kNone;
         node != kNone; node = profile.nodes[node].parent) {
      const LocationId id = profile.nodes[node].location;
      const Location& location = profile.locations[id];
      for (uint32_t k = begun ? 0 : skipped[id]; k < location.frame_count; ++k) {
        made->timeline.bands[i].frames.push_back(names[location.first_frame + k]);
        begun = true;
      }
    }
  }
}

}  // namespace heapgauge
