#include "core/report/draw/heat_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/text.h"

namespace heapgauge {
namespace {

constexpr size_t kLabel = 7;
constexpr size_t kFigure = 4;
constexpr size_t kSum = 6;

struct Shade {
  double share;  // at least this
  const char* mark;
  const char* ascii;
  Style style;
};
constexpr Shade kShades[] = {
    {0.10, "\u2588", "#", Style::kGrowth},
    {0.03, "\u2593", "=", Style::kWarning},
    {0.01, "\u2592", "-", Style::kBar},
    {0.001, "\u2591", ".", Style::kPlain},
    {0, " ", " ", Style::kDim},
};

const Shade& ShadeOf(double share) {
  for (const Shade& shade : kShades) {
    if (share >= shade.share) return shade;
  }
  return kShades[std::size(kShades) - 1];
}

size_t WidthOf(const HeatMap& map) {
  return kLabel + 1 + (kFigure + 1) * map.columns.size() + kSum;
}

StyledText Legend(const Layout& layout) {
  StyledText text("share of all: ", Style::kDim);
  for (size_t i = std::size(kShades) - 1; i-- > 0;) {
    text.Add(layout.utf8 ? kShades[i].mark : kShades[i].ascii, kShades[i].style);
    text.Add(fmt::format(" {:g} %", kShades[i].share * 100), Style::kDim);
    text.Add(i == 0 ? " and more\n" : "  ", Style::kDim);
  }
  return text;
}

// Leaves out columns at both ends that hold nothing in any of the maps.
void Trim(std::vector<HeatMap>* maps) {
  if (maps->empty() || maps->front().columns.size() < 2) return;
  const size_t count = maps->front().columns.size() - (maps->front().keeps_last ? 1 : 0);
  const auto used = [&](size_t column) {
    for (const HeatMap& map : *maps) {
      for (const std::vector<double>& row : map.cells) {
        if (row[column] > 0) return true;
      }
    }
    return false;
  };
  size_t first = 0;
  while (first < count && !used(first)) ++first;
  size_t end = count;
  while (end > first && !used(end - 1)) --end;
  const auto cut = [&](auto* list) {
    list->erase(list->begin() + static_cast<ptrdiff_t>(end),
                list->begin() + static_cast<ptrdiff_t>(count));
    list->erase(list->begin(), list->begin() + static_cast<ptrdiff_t>(first));
  };
  for (HeatMap& map : *maps) {
    cut(&map.columns);
    for (std::vector<double>& row : map.cells) cut(&row);
  }
}

}  // namespace

std::string CompactFigure(double value, bool is_bytes) {
  if (!(value > 0)) return "";
  const double base = is_bytes ? 1024 : 1000;
  const char* units = is_bytes ? " KMGTPE" : " kMGTPE";
  if (value < 999.5) return fmt::format("{:.0f}", value);
  size_t unit = 0;
  while (value >= 999.5 && unit < 6) {
    value /= base;
    ++unit;
  }
  return value < 9.95 ? fmt::format("{:.1f}{}", value, units[unit])
                      : fmt::format("{:.0f}{}", value, units[unit]);
}

StyledText HeatMapText(const HeatMap& map, const Layout& layout) {
  double total = 0;
  std::vector<double> column_sums(map.columns.size());
  for (const std::vector<double>& row : map.cells) {
    for (size_t i = 0; i < row.size(); ++i) {
      column_sums[i] += row[i];
      total += row[i];
    }
  }
  const size_t width = WidthOf(map);
  StyledText text;
  text.AddRight(CutTo(map.title, width), width, Style::kTitle).Add("\n");
  text.AddLeft(map.corner, kLabel, Style::kHeading).Add(" ");
  for (const std::string& column : map.columns) {
    // A heading of five columns also takes the place of the shade.
    if (DisplayWidth(column) > kFigure) {
      text.AddLeft(column, kFigure + 1, Style::kHeading);
    } else {
      text.AddLeft(column, kFigure, Style::kHeading).Add(" ");
    }
  }
  text.AddLeft("all", kSum, Style::kHeading).Add("\n");
  const auto add_row = [&](const std::string& label, const std::vector<double>& row, bool shaded) {
    text.AddLeft(label, kLabel, Style::kLabel).Add(" ");
    double sum = 0;
    for (const double cell : row) {
      const Shade& shade = ShadeOf(total > 0 && shaded ? cell / total : 0);
      const Style style = shaded ? shade.style : Style::kPlain;
      text.AddLeft(CompactFigure(cell, map.is_bytes), kFigure, style);
      text.Add(layout.utf8 ? shade.mark : shade.ascii, style);
      sum += cell;
    }
    text.AddLeft(CompactFigure(sum, map.is_bytes), kSum, Style::kNumber).Add("\n");
  };
  for (size_t i = 0; i < map.rows.size(); ++i) add_row(map.rows[i], map.cells[i], true);
  add_row("all", column_sums, false);
  return text;
}

StyledText HeatMapsText(std::vector<HeatMap> maps, const Layout& layout) {
  Trim(&maps);
  std::vector<std::vector<StyledText>> blocks;
  size_t width = 0;
  for (const HeatMap& map : maps) {
    blocks.push_back(HeatMapText(map, layout).Lines());
    width += WidthOf(map) + 2;
  }
  StyledText text;
  if (width > layout.width + 2) {
    for (const std::vector<StyledText>& block : blocks) {
      for (const StyledText& line : block) text.Add(line).Add("\n");
      text.Add("\n");
    }
  } else {
    size_t lines = 0;
    for (const std::vector<StyledText>& block : blocks) lines = std::max(lines, block.size());
    for (size_t line = 0; line < lines; ++line) {
      for (size_t i = 0; i < blocks.size(); ++i) {
        if (i > 0) text.Add("  ");
        if (line < blocks[i].size()) text.Add(blocks[i][line]);
      }
      text.Add("\n");
    }
    text.Add("\n");
  }
  return text.Add(Legend(layout));
}

std::string HistogramText(const std::vector<double>& values, bool utf8) {
  static constexpr const char* kHeights[] = {"\u2581", "\u2582", "\u2583", "\u2584",
                                             "\u2585", "\u2586", "\u2587", "\u2588"};
  static constexpr const char* kAscii[] = {".", ":", "-", "=", "+", "*", "%", "#"};
  double most = 0;
  for (const double value : values) most = std::max(most, value);
  std::string text;
  for (const double value : values) {
    if (!(value > 0)) {
      text += ' ';
      continue;
    }
    size_t height = static_cast<size_t>(value / most * 8);
    if (height > 7) height = 7;
    text += (utf8 ? kHeights : kAscii)[height];
  }
  return text;
}

}  // namespace heapgauge
