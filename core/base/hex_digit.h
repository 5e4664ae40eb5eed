// The value of a hexadecimal digit.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace heapgauge {

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

}  // namespace heapgauge
