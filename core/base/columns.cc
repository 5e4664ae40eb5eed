#include "core/base/columns.h"

#include <locale.h>
#include <wchar.h>

#include <algorithm>
#include <cstdint>

namespace heapgauge {
namespace {

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

// The C library knows the widths, but only in a UTF-8 locale; the program's own is left alone.
size_t ColumnsOf(wchar_t c) {
  static const locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  if (utf8 == nullptr) return 1;
  const locale_t before = uselocale(utf8);
  const int width = wcwidth(c);
  uselocale(before);
  return width < 0 ? 1 : static_cast<size_t>(width);
}

}  // namespace

Glyph GlyphAt(std::string_view text, size_t at) {
  const auto first = static_cast<unsigned char>(text[at]);
  if (first < 0x80) return {1, 1};
  const size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 1;
  if (bytes == 1 || at + bytes > text.size()) return {1, 1};
  uint32_t code = first & (0xffu >> (bytes + 1));
  for (size_t i = 1; i < bytes; ++i) {
    if (!IsContinuation(text[at + i])) return {1, 1};
    code = code << 6 | (static_cast<unsigned char>(text[at + i]) & 0x3f);
  }
  // What the reports draw themselves; spares the call.
  if (code == 0x2026 || code == 0xb1 || (code >= 0x2500 && code < 0x25a0)) return {bytes, 1};
  return {bytes, ColumnsOf(static_cast<wchar_t>(code))};
}

size_t DisplayWidth(std::string_view text) {
  size_t columns = 0;
  for (size_t at = 0; at < text.size();) {
    const Glyph glyph = GlyphAt(text, at);
    columns += glyph.columns;
    at += glyph.bytes;
  }
  return columns;
}

std::string_view FirstColumns(std::string_view text, size_t width) {
  size_t columns = 0;
  size_t at = 0;
  while (at < text.size()) {
    const Glyph glyph = GlyphAt(text, at);
    if (columns + glyph.columns > width) break;
    columns += glyph.columns;
    at += glyph.bytes;
  }
  return text.substr(0, at);
}

std::string_view LastColumns(std::string_view text, size_t width) {
  size_t left = DisplayWidth(text);
  size_t at = 0;
  while (at < text.size() && left > width) {
    const Glyph glyph = GlyphAt(text, at);
    left -= glyph.columns;
    at += glyph.bytes;
  }
  // A mark without its letter would settle on whatever stands before.
  while (at != 0 && at < text.size() && GlyphAt(text, at).columns == 0) {
    at += GlyphAt(text, at).bytes;
  }
  return text.substr(at);
}

std::string PadLeft(std::string_view text, size_t width) {
  const size_t have = DisplayWidth(text);
  return std::string(have < width ? width - have : 0, ' ').append(text);
}

std::string PadRight(std::string_view text, size_t width) {
  const size_t have = DisplayWidth(text);
  return std::string(text).append(have < width ? width - have : 0, ' ');
}

std::string CutTo(std::string_view text, size_t width) {
  if (DisplayWidth(text) <= width) return std::string(text);
  const size_t keep = width > 3 ? width - 3 : 0;
  return std::string(FirstColumns(text, keep)) + std::string(std::min<size_t>(width, 3), '.');
}

}  // namespace heapgauge
