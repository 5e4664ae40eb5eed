#include "core/report/styled_text.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/short_name.h"
#include "core/base/text.h"

namespace heapgauge {
namespace {

const char* EscapeOf(Style style) {
  switch (style) {
    case Style::kPlain:
      break;
    case Style::kTitle:
    case Style::kNumber:
      return "\033[1m";
    case Style::kHeading:
      return "\033[4m";
    case Style::kLabel:
    case Style::kBar:
      return "\033[36m";
    case Style::kDim:
      return "\033[2m";
    case Style::kWarning:
      return "\033[33m";
    case Style::kGrowth:
      return "\033[31m";
    case Style::kShrink:
      return "\033[32m";
    case Style::kSelected:
      return "\033[7m";
  }
  return "";
}

// ASCII for what the reports write themselves; '?' for anything else.
void AppendAscii(std::string_view text, std::string* out) {
  for (size_t at = 0; at < text.size();) {
    const Glyph glyph = GlyphAt(text, at);
    const std::string_view c = text.substr(at, glyph.bytes);
    at += glyph.bytes;
    if (glyph.bytes == 1) {
      *out += static_cast<unsigned char>(c[0]) < 0x80 ? c[0] : '?';
    } else if (c == "\u00b1") {  // plus or minus
      *out += '~';
    } else if (c == "\u2502" || c == "\u251c") {
      *out += '|';
    } else if (c == "\u2514") {
      *out += '`';
    } else if (c == "\u2500") {
      *out += '-';
    } else if (c == "\u2026") {
      *out += '.';
    } else if (c >= "\u2580" && c <= "\u258f") {
      *out += '#';
    } else {
      out->append(glyph.columns, '?');
    }
  }
}

}  // namespace

StyledText& StyledText::Add(std::string_view text, Style style) {
  if (text.empty()) return *this;
  text_ += text;
  if (!spans_.empty() && spans_.back().style == style) {
    spans_.back().end = text_.size();
  } else {
    spans_.push_back({text_.size(), style});
  }
  return *this;
}

StyledText& StyledText::Add(const StyledText& other) {
  size_t begin = 0;
  for (const Span& span : other.spans_) {
    Add(std::string_view(other.text_).substr(begin, span.end - begin), span.style);
    begin = span.end;
  }
  return *this;
}

StyledText& StyledText::AddLeft(std::string_view text, size_t width, Style style) {
  const size_t have = DisplayWidth(text);
  if (have < width) Add(std::string(width - have, ' '));
  return Add(text, style);
}

StyledText& StyledText::AddRight(std::string_view text, size_t width, Style style) {
  Add(text, style);
  const size_t have = DisplayWidth(text);
  return have < width ? Add(std::string(width - have, ' ')) : *this;
}

std::vector<StyledText> StyledText::Lines() const {
  std::vector<StyledText> lines;
  size_t begin = 0;
  bool open = false;
  for (const Span& span : spans_) {
    while (begin < span.end) {
      if (!open) lines.emplace_back();
      open = true;
      const size_t newline = std::min(text_.find('\n', begin), span.end);
      lines.back().Add(std::string_view(text_).substr(begin, newline - begin), span.style);
      begin = newline;
      if (newline < span.end) {
        ++begin;
        open = false;
      }
    }
  }
  return lines;
}

StyledText StyledText::Cut(size_t width) const {
  const size_t keep = FirstColumns(text_, width).size();
  StyledText cut;
  size_t begin = 0;
  for (const Span& span : spans_) {
    const size_t end = std::min(span.end, keep);
    if (end > begin) cut.Add(std::string_view(text_).substr(begin, end - begin), span.style);
    begin = span.end;
    if (begin >= keep) break;
  }
  return cut;
}

std::string Render(const StyledText& text, const TextLook& look) {
  if (!look.colour && look.utf8) return text.text();
  std::string out;
  out.reserve(text.text().size() + 16 * text.spans().size());
  size_t begin = 0;
  for (const StyledText::Span& span : text.spans()) {
    const auto part = std::string_view(text.text()).substr(begin, span.end - begin);
    begin = span.end;
    const char* escape = look.colour ? EscapeOf(span.style) : "";
    out += escape;
    if (look.utf8) {
      out += part;
    } else {
      AppendAscii(part, &out);
    }
    if (*escape != 0) out += "\033[0m";
  }
  return out;
}

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
