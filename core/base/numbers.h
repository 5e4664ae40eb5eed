// Numbers that come from outside: their digits, sums that wrap, and units that can be turned into
// each other.
//
// Pure functions; the tables are constant.
#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <type_traits>

namespace heapgauge {

// The value of each hexadecimal digit, -1 for other characters.
//
// Digits and letters come in no order that a processor could foresee, so this is a table: branches
// would take most of the time that a profile takes.
inline constexpr std::array<int8_t, 256> kHexDigits = [] {
  std::array<int8_t, 256> values{};
  for (size_t c = 0; c < values.size(); ++c) {
    values[c] = static_cast<int8_t>(c >= '0' && c <= '9'   ? c - '0'
                                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                           : 0xff);
  }
  return values;
}();
// The value of a hexadecimal digit, or -1.
inline int HexDigit(char c) { return kHexDigits[static_cast<unsigned char>(c)]; }

// Numbers in texts: digits of the base and, where the type has one, a sign "-"; a fraction and an
// exponent where the type is a fraction, which has no base. They must fit. Nothing is allocated.

// Takes the number at the start of the text off. The text stays as it is if there is none.
template <typename Number>
std::optional<Number> TakeNumber(std::string_view* text, int base = 10) {
  Number value{};
  const char* const end = text->data() + text->size();
  std::from_chars_result taken{};
  if constexpr (std::is_floating_point_v<Number>) {
    taken = std::from_chars(text->data(), end, value);
  } else {
    taken = std::from_chars(text->data(), end, value, base);
  }
  if (taken.ec != std::errc()) return std::nullopt;
  text->remove_prefix(static_cast<size_t>(taken.ptr - text->data()));
  return value;
}

// The number that is the whole of the text.
template <typename Number>
std::optional<Number> NumberIn(std::string_view text, int base = 10) {
  const std::optional<Number> value = TakeNumber<Number>(&text, base);
  return text.empty() ? value : std::nullopt;
}

// Whole numbers that overflow as those of pprof do: they wrap. Values come from files, so sums of
// them can be anything, and nothing here is undefined.
inline int64_t WrapAdd(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
inline int64_t WrapMul(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
inline int64_t WrapNegate(int64_t a) { return static_cast<int64_t>(-static_cast<uint64_t>(a)); }
// The smallest number has no positive twin and stays as it is.
inline int64_t Abs64(int64_t a) { return a < 0 ? WrapNegate(a) : a; }
// REQUIRES: b is not 0.
inline int64_t WrapDivide(int64_t a, int64_t b) { return b == -1 ? WrapNegate(a) : a / b; }
// A sum, or the mean if something was counted.
inline int64_t MeanOf(int64_t sum, int64_t count) {
  return count == 0 ? sum : WrapDivide(sum, count);
}

// Units that can be turned into each other: sizes of memory, times, and Google's compute units, by
// the names that pprof takes and writes for them. The one table of them.
struct NamedUnit {
  std::string_view name;  // as it is written
  double factor;          // in the basic unit of its kind
  std::array<std::string_view, 3> aliases;
};

struct UnitKind {
  std::span<const NamedUnit> units;  // from the smallest on
  std::string_view fallback;         // written when a value suits none
  double fallback_factor;
};

std::span<const UnitKind> UnitKinds();

// The unit of that kind and name, or null. Case and a final "s" do not matter.
const NamedUnit* FindUnit(const UnitKind& kind, std::string_view name);

// How many of `to` are one of `from`: ("kB", "bytes") is 1024. None if they do not measure the same
// or are not known.
std::optional<double> UnitRatio(std::string_view from, std::string_view to);

}  // namespace heapgauge
