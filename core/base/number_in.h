// A number that is the whole of a text.
//
// Pure function, allocation-free.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace heapgauge {

// Digits of the base and, where the type has one, a sign "-"; nothing else, and it must fit.
template <typename Number>
std::optional<Number> NumberIn(std::string_view text, int base = 10) {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, base);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

}  // namespace heapgauge
