// Text as people read it: numbers with units and the way back, and columns of a terminal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace heapgauge {

// Text in columns of a terminal. A column is not a byte and not a code point: names may hold
// accents that take no room of their own and ideographs that take two columns.
//
// Pure functions over UTF-8; bytes that are not UTF-8 count as one column each.

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

// Numbers as people read them, and the way back. One place, so that a size looks the same in
// every report: 1024-based with the units that pprof, jeprof and top use (kB, MB, GB).
//
// All functions are pure.

// "0 B", "831 B", "1.5 kB", "12.3 MB", "123 MB".
std::string FormatBytes(double bytes);

// "10.1-14.8 MB", "831 kB-1.2 MB": both ends, the unit once if they share it.
std::string FormatByteRange(double low, double high);

// Half the width of the range as a share of the value: "±7%"; "" if the range has no width.
std::string FormatPlusMinus(double value, double low, double high);

// "7", "12,345", "1.2M" from ten million on.
std::string FormatCount(double count);

// "25.5%", "0.03%", "100%"; "-" if there is no total.
std::string FormatShare(double part, double total);

// "850ms", "12s", "3m05s", "2h14m", "5d03h".
std::string FormatDuration(uint64_t nanoseconds);

// "512K", "512KiB", "512kB", "1.5M", "4096", "4096B": always 1024-based.
Result<uint64_t> ParseSize(std::string_view text);

// The text without control characters or broken UTF-8, so that a name out of a foreign file can be
// shown.
std::string Printable(std::string_view text);

// The candidate nearest to `word` by edit distance, or "" if none is near enough to be meant.
std::string Nearest(std::string_view word, const std::vector<std::string>& candidates);

// Equal but for the case of ASCII letters, as names in HTTP are.
bool EqualIgnoringCase(std::string_view a, std::string_view b);
// ASCII letters in lower case; all other bytes stay.
std::string LowerCase(std::string_view text);

// Texts of several parts. All results are views of the text, except words and what is joined.
inline constexpr std::string_view kSpaces = " \t\n\v\f\r";  // as in the C locale

// The text without spaces at both ends, or at the start.
std::string_view Trim(std::string_view text, std::string_view spaces = kSpaces);
std::string_view TrimLeft(std::string_view text, std::string_view spaces = kSpaces);

// Takes the next line or field off the front: what is before the separator, or all that is left.
// The separator goes with it.
std::string_view TakeUntil(std::string_view* text, char separator);
// What is between separators, also where that is empty; at least one piece.
std::vector<std::string_view> PiecesOf(std::string_view text, char separator);
// What is between spaces, if it is not empty.
std::vector<std::string> WordsOf(std::string_view text, std::string_view spaces = kSpaces);

// The words with the text between them. Empty words at the start leave nothing.
std::string Join(const std::vector<std::string>& words, std::string_view between = " ");

// The last component of a path.
std::string_view BaseName(std::string_view path);

}  // namespace heapgauge
