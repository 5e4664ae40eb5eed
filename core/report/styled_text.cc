#include "core/report/styled_text.h"

#include <algorithm>

#include "core/base/columns.h"

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

}  // namespace heapgauge
