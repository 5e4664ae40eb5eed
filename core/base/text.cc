#include "core/base/text.h"

#include <fmt/format.h>
#include <locale.h>
#include <strings.h>
#include <wchar.h>

#include <algorithm>
#include <charconv>
#include <cmath>
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

namespace {

constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
constexpr int kUnitCount = 7;

// The unit in which `bytes`, rounded as it will be shown, stays below 1024.
int UnitOf(double bytes) {
  int unit = 0;
  while (unit + 1 < kUnitCount && bytes >= 1023.5) {
    bytes /= 1024;
    ++unit;
  }
  return unit;
}

std::string NumberIn(double bytes, int unit) {
  const double scaled = bytes / std::pow(1024.0, unit);
  if (unit == 0 || scaled >= 99.95) return fmt::format("{:.0f}", scaled);
  return fmt::format("{:.1f}", scaled);
}

double Sane(double value) { return std::isfinite(value) && value > 0 ? value : 0; }

}  // namespace

std::string FormatBytes(double bytes) {
  bytes = Sane(bytes);
  const int unit = UnitOf(bytes);
  return NumberIn(bytes, unit) + " " + kUnits[unit];
}

std::string FormatByteRange(double low, double high) {
  low = Sane(low);
  high = Sane(high);
  const int unit = UnitOf(high);
  // A low end that would be shown as 0.0 tells more in its own unit.
  if (low == 0 || low >= 0.1 * std::pow(1024.0, unit)) {
    return (low == 0 ? "0" : NumberIn(low, unit)) + "-" + NumberIn(high, unit) + " " + kUnits[unit];
  }
  return FormatBytes(low) + "-" + FormatBytes(high);
}

std::string FormatPlusMinus(double value, double low, double high) {
  if (!(value > 0) || !(high > low)) return "";
  const double percent = 50 * (high - low) / value;
  if (percent < 0.05) return "";
  if (percent >= 999.5) return "±>999%";
  return fmt::format("±{:.{}f}%", percent, percent < 0.95 ? 1 : 0);
}

std::string FormatCount(double count) {
  count = Sane(count);
  if (count >= 1e15) return fmt::format("{:.1e}", count);
  if (count >= 1e10) return fmt::format("{:.1f}G", count / 1e9);
  if (count >= 1e7) return fmt::format("{:.1f}M", count / 1e6);
  std::string digits = fmt::format("{:.0f}", count);
  for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<size_t>(at), ",");
  }
  return digits;
}

std::string FormatShare(double part, double total) {
  if (!(total > 0) || !std::isfinite(part)) return "-";
  const double percent = 100 * part / total;
  if (percent >= 99.95 && percent < 100.05) return "100%";
  if (percent != 0 && std::fabs(percent) < 0.095) return fmt::format("{:.2f}%", percent);
  return fmt::format("{:.1f}%", percent);
}

std::string FormatDuration(uint64_t nanoseconds) {
  constexpr uint64_t kSecond = 1'000'000'000;
  const auto in = [&](uint64_t unit) {
    return nanoseconds / unit + (nanoseconds % unit >= unit / 2 ? 1 : 0);
  };
  if (const uint64_t ms = in(kSecond / 1000); ms < 1000) return fmt::format("{}ms", ms);
  if (const uint64_t tenths = in(kSecond / 10); tenths < 100) {
    return fmt::format("{}.{}s", tenths / 10, tenths % 10);
  }
  const uint64_t s = in(kSecond);
  if (s < 60) return fmt::format("{}s", s);
  if (s < 3600) return fmt::format("{}m{:02}s", s / 60, s % 60);
  if (const uint64_t m = in(60 * kSecond); m < 24 * 60) {
    return fmt::format("{}h{:02}m", m / 60, m % 60);
  }
  const uint64_t h = in(3600 * kSecond);
  return fmt::format("{}d{:02}h", h / 24, h % 24);
}

Result<uint64_t> ParseSize(std::string_view text) {
  const std::string_view whole = text;
  const auto bad = [&] {
    return Fail(ErrorCode::kInvalidArgument,
                "'" + Printable(whole) + "' is not a size; write for example 4096, 512K or 1.5M");
  };
  double number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc() || !(number >= 0)) return bad();
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  double factor = 1;
  if (!text.empty()) {
    static constexpr std::string_view kLetters = "kmgt";
    const char letter = static_cast<char>(text.front() | 0x20);
    const size_t at = kLetters.find(letter);
    if (at != std::string_view::npos) {
      factor = std::pow(1024.0, static_cast<double>(at + 1));
      text.remove_prefix(1);
      if (!text.empty() && text.front() == 'i') text.remove_prefix(1);
    }
    if (!text.empty() && (text.front() | 0x20) == 'b') text.remove_prefix(1);
    if (!text.empty()) return bad();
  }
  const double bytes = number * factor;
  if (!(bytes < 0x1p62)) return bad();
  return static_cast<uint64_t>(bytes + 0.5);
}

std::string Printable(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c < 0x80) {
      clean += c < 0x20 || c == 0x7f ? '?' : static_cast<char>(c);
      ++i;
      continue;
    }
    const size_t length = c >= 0xc2 && c < 0xe0   ? 2
                          : c >= 0xe0 && c < 0xf0 ? 3
                          : c >= 0xf0 && c < 0xf5 ? 4
                                                  : 0;
    bool good = length != 0 && i + length <= text.size();
    for (size_t k = 1; good && k < length; ++k) {
      good = (static_cast<unsigned char>(text[i + k]) & 0xc0) == 0x80;
    }
    if (good && length >= 3) {  // not overlong, not a surrogate, not beyond U+10FFFF
      const auto second = static_cast<unsigned char>(text[i + 1]);
      good = !(c == 0xe0 && second < 0xa0) && !(c == 0xed && second > 0x9f) &&
             !(c == 0xf0 && second < 0x90) && !(c == 0xf4 && second > 0x8f);
    }
    // U+0080 to U+009F are control characters too.
    if (good && c == 0xc2 && static_cast<unsigned char>(text[i + 1]) < 0xa0) good = false;
    if (good) {
      clean.append(text.substr(i, length));
      i += length;
    } else {
      clean += '?';
      ++i;
    }
  }
  return clean;
}

std::string Nearest(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best;
  size_t best_distance = word.size() <= 3 ? 2 : 3;  // anything farther was not meant
  for (const std::string& candidate : candidates) {
    std::vector<size_t> row(candidate.size() + 1);
    for (size_t j = 0; j < row.size(); ++j) row[j] = j;
    for (size_t i = 1; i <= word.size(); ++i) {
      size_t diagonal = row[0];
      row[0] = i;
      for (size_t j = 1; j < row.size(); ++j) {
        const size_t above = row[j];
        row[j] = std::min(
            {above + 1, row[j - 1] + 1, diagonal + (word[i - 1] == candidate[j - 1] ? 0 : 1)});
        diagonal = above;
      }
    }
    if (row.back() < best_distance) {
      best_distance = row.back();
      best = candidate;
    }
  }
  return best;
}

bool EqualIgnoringCase(std::string_view a, std::string_view b) {
  return a.size() == b.size() && strncasecmp(a.data(), b.data(), a.size()) == 0;
}

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower;
}

std::string_view Trim(std::string_view text, std::string_view spaces) {
  text = TrimLeft(text, spaces);
  return text.substr(0, text.find_last_not_of(spaces) + 1);  // npos + 1 is 0
}

std::string_view TrimLeft(std::string_view text, std::string_view spaces) {
  return text.substr(std::min(text.find_first_not_of(spaces), text.size()));
}

std::string_view TakeUntil(std::string_view* text, char separator) {
  const std::string_view piece = text->substr(0, text->find(separator));
  text->remove_prefix(std::min(piece.size() + 1, text->size()));
  return piece;
}

std::vector<std::string_view> PiecesOf(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  for (;;) {
    const bool last = text.find(separator) == std::string_view::npos;
    pieces.push_back(TakeUntil(&text, separator));
    if (last) return pieces;
  }
}

std::vector<std::string> WordsOf(std::string_view text, std::string_view spaces) {
  std::vector<std::string> words;
  while (!(text = TrimLeft(text, spaces)).empty()) {
    words.emplace_back(text.substr(0, text.find_first_of(spaces)));
    text.remove_prefix(words.back().size());
  }
  return words;
}

std::string Join(const std::vector<std::string>& words, std::string_view between) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += between;
    text += word;
  }
  return text;
}

std::string_view BaseName(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

}  // namespace heapgauge
