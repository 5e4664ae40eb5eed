// Text in columns of a terminal. A column is not a byte and not a code point: names may hold
// accents that take no room of their own and ideographs that take two columns.
//
// Pure functions over UTF-8; bytes that are not UTF-8 count as one column each.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace heapgauge {

// One character of UTF-8 text.
struct Glyph {
  size_t bytes = 1;    // in the text; at least 1
  size_t columns = 1;  // 0 for combining characters, 2 for wide ones
};
// REQUIRES: at < text.size().
Glyph GlyphAt(std::string_view text, size_t at);

// Columns of the whole text.
size_t DisplayWidth(std::string_view text);

// The longest beginning (end) of the text that takes no more than `width` columns.
std::string_view FirstColumns(std::string_view text, size_t width);
std::string_view LastColumns(std::string_view text, size_t width);

// Pads with spaces to `width` columns.
std::string PadLeft(std::string_view text, size_t width);
std::string PadRight(std::string_view text, size_t width);

// Cuts to `width` columns, with "..." at the end if anything was cut.
std::string CutTo(std::string_view text, size_t width);

}  // namespace heapgauge
