// Small steps through a line of text: numbers and blanks. All of them move `at` behind what they
// took, and leave it alone when they fail.
//
// Pure functions, allocation-free.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/numbers.h"

namespace heapgauge {

inline bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }
inline bool IsDigit(char c) { return c >= '0' && c <= '9'; }

inline void SkipBlanks(std::string_view text, size_t* at) {
  while (*at < text.size() && IsBlank(text[*at])) ++*at;
}

// Empty, blank, or a comment.
inline bool IsBlankOrComment(std::string_view line) {
  size_t at = 0;
  SkipBlanks(line, &at);
  return at == line.size() || line[at] == '#';
}

inline bool TakeChar(std::string_view text, size_t* at, char c) {
  if (*at >= text.size() || text[*at] != c) return false;
  ++*at;
  return true;
}

inline bool TakeText(std::string_view text, size_t* at, std::string_view expected) {
  if (text.substr(*at, expected.size()) != expected) return false;
  *at += expected.size();
  return true;
}

enum class Taken { kYes, kNo, kTooLarge };

// -?[0-9]+ that fits.
inline Taken TakeDecimal(std::string_view text, size_t* at, int64_t* value) {
  size_t i = *at;
  const bool negative = i < text.size() && text[i] == '-';
  if (negative) ++i;
  const size_t first = i;
  uint64_t n = 0;
  constexpr uint64_t kMax = std::numeric_limits<int64_t>::max();
  for (; i < text.size() && IsDigit(text[i]); ++i) {
    const auto digit = static_cast<uint64_t>(text[i] - '0');
    if (n > (kMax - digit) / 10) return Taken::kTooLarge;
    n = n * 10 + digit;
  }
  if (i == first) return Taken::kNo;
  *value = negative ? -static_cast<int64_t>(n) : static_cast<int64_t>(n);
  *at = i;
  return Taken::kYes;
}

// Up to eight hexadecimal digits at once: how many the eight bytes at `text` begin with, and their
// value. A loop over digits takes most of the time that a large profile takes, because nobody can
// foresee where the next number ends.
struct HexRun {
  size_t digits = 0;
  uint32_t value = 0;
};
inline HexRun HexRunAt(const char* text) {
  constexpr uint64_t kOnes = 0x0101010101010101;
  constexpr uint64_t kHigh = 0x80 * kOnes;
  uint64_t bytes = 0;
  std::memcpy(&bytes, text, sizeof bytes);  // the first is the lowest
  // The high bit of a byte in at_least(c, limit) says whether it is `limit` or more; below 0x80
  // nothing is carried to the next one.
  const auto at_least = [](uint64_t c, uint64_t limit) { return c + (0x80 - limit) * kOnes; };
  const uint64_t low = bytes & ~kHigh;
  const uint64_t lower_case = low | 0x20 * kOnes;
  const uint64_t is_digit = at_least(low, '0') & ~at_least(low, '9' + 1);
  const uint64_t is_letter = at_least(lower_case, 'a') & ~at_least(lower_case, 'f' + 1);
  const uint64_t others = ~((is_digit | is_letter) & ~bytes) & kHigh;
  HexRun run;
  run.digits = others == 0 ? 8 : static_cast<size_t>(__builtin_ctzll(others)) / 8;
  if (run.digits == 0) return run;
  // Zeros in front, and then neighbours are joined: 8 digits, 4 bytes, 2 words, 1 number.
  bytes <<= 8 * (8 - run.digits);
  uint64_t n = (bytes & 0xf * kOnes) + 9 * (bytes >> 6 & kOnes);
  n = (n << 4 | n >> 8) & 0x00ff00ff00ff00ff;
  n = (n << 8 | n >> 16) & 0x0000ffff0000ffff;
  run.value = static_cast<uint32_t>(n << 16 | n >> 32);
  return run;
}

// [0-9a-fA-F]+ that fits, without "0x".
inline Taken TakeHex(std::string_view text, size_t* at, uint64_t* value) {
  size_t i = *at;
  uint64_t n = 0;
  HexRun run{8, 0};
  while (run.digits == 8 && text.size() - i >= 8) {
    run = HexRunAt(text.data() + i);
    n = n << 4 * run.digits | run.value;
    i += run.digits;
  }
  for (int digit = 0; run.digits == 8 && i < text.size() && (digit = HexDigit(text[i])) >= 0; ++i) {
    n = n << 4 | static_cast<uint64_t>(digit);
  }
  if (i == *at) return Taken::kNo;
  if (i - *at > 16) {
    const size_t significant = std::min(text.find_first_not_of('0', *at), i);
    if (i - significant > 16) return Taken::kTooLarge;
  }
  *value = n;
  *at = i;
  return Taken::kYes;
}

}  // namespace heapgauge
