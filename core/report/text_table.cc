#include "core/report/text_table.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/columns.h"
#include "core/base/short_name.h"

namespace heapgauge {
namespace {

constexpr size_t kGap = 2;
constexpr size_t kLeastName = 20;  // columns that names need to be told apart
constexpr size_t kLeastStack = 40;

}  // namespace

TextTable& TextTable::Column(std::string heading, Align align, int rank, Style style) {
  columns_.push_back({std::move(heading), align, rank, style});
  return *this;
}

void TextTable::Row(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

StyledText TextTable::Text(const Layout& layout) const {
  StyledText text;
  if (columns_.empty()) return text;
  std::vector<size_t> widths;
  for (size_t i = 0; i < columns_.size(); ++i) {
    size_t width = DisplayWidth(columns_[i].heading);
    for (const std::vector<std::string>& row : rows_) width = std::max(width, DisplayWidth(row[i]));
    widths.push_back(width);
  }
  const size_t last = columns_.size() - 1;
  std::vector<bool> shown(columns_.size(), true);
  // Of what may be left out, no part is shown.
  const bool is_whole = columns_[last].rank > 0;
  const auto left = [&] {
    size_t sum = 0;
    for (size_t i = 0; i < last; ++i) sum += shown[i] ? widths[i] + kGap : 0;
    return sum;
  };
  const size_t least = last_is_a_stack_ ? kLeastStack : kLeastName;
  const size_t needed = is_whole ? widths[last] : std::min(widths[last], least);
  while (left() + (shown[last] ? needed : 0) > layout.width) {
    std::optional<size_t> worst;
    for (size_t i = 0; i <= last; ++i) {
      if (shown[i] && columns_[i].rank > (worst ? columns_[*worst].rank : 0)) worst = i;
    }
    if (!worst) break;
    shown[*worst] = false;
  }
  const size_t room = layout.width > left() + 8 ? layout.width - left() : 8;
  const auto add = [&](size_t i, const std::string& cell, Style style) {
    if (i == last) {
      std::string fitted = cell;
      if (DisplayWidth(cell) > room) {
        const size_t mark = DisplayWidth(layout.ellipsis());
        fitted = last_is_a_stack_ ? std::string(FirstColumns(cell, room - mark)) + layout.ellipsis()
                                  : TrimName(cell, room, layout.ellipsis());
      }
      if (columns_[i].align == Align::kRight) {
        text.AddLeft(fitted, std::min(widths[i], room), style);
      } else {
        text.Add(fitted, style);
      }
      return;
    }
    if (columns_[i].align == Align::kRight) {
      text.AddLeft(cell, widths[i], style);
    } else {
      text.AddRight(cell, widths[i], style);
    }
  };
  const auto add_row = [&](const auto& cell_of, const auto& style_of) {
    bool is_first = true;
    for (size_t i = 0; i <= last; ++i) {
      if (!shown[i]) continue;
      if (!std::exchange(is_first, false)) text.Add(std::string(kGap, ' '));
      add(i, cell_of(i), style_of(i));
    }
    text.Add("\n");
  };
  add_row([&](size_t i) { return columns_[i].heading; }, [](size_t) { return Style::kHeading; });
  for (const std::vector<std::string>& row : rows_) {
    add_row([&](size_t i) { return row[i]; }, [&](size_t i) { return columns_[i].style; });
  }
  return text;
}

}  // namespace heapgauge
