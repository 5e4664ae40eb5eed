// The argument of disasm and weblist may be an address instead of a regular expression.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace heapgauge::pprof {

// "0x401136", or decimal; nothing if it is no number.
inline std::optional<uint64_t> AddressOfPattern(std::string_view pattern) {
  int base = 10;
  if (pattern.starts_with("0x") || pattern.starts_with("0X")) {
    pattern.remove_prefix(2);
    base = 16;
  } else if (pattern.starts_with('0') && pattern.size() > 1) {
    base = 8;
  }
  uint64_t value = 0;
  const char* end = pattern.data() + pattern.size();
  const auto [at, error] = std::from_chars(pattern.data(), end, value, base);
  if (error != std::errc() || at != end) return std::nullopt;
  return value;
}

}  // namespace heapgauge::pprof
