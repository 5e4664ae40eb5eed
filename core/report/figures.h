// Whole numbers as reports show them: the counts and sizes of an exact trace, and of anything else
// that is no estimate.
//
// Pure functions.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/text.h"

namespace heapgauge::figures {

inline double Real(uint64_t value) { return static_cast<double>(value); }
inline std::string Count(uint64_t value) { return FormatCount(Real(value)); }
// "1 block", "1,204 blocks"
inline std::string Counted(uint64_t value, const char* what) {
  return Count(value) + " " + what + (value == 1 ? "" : "s");
}
inline std::string Bytes(uint64_t value) { return FormatBytes(Real(value)); }
inline std::string Share(uint64_t part, uint64_t whole) {
  return FormatShare(Real(part), Real(whole));
}

}  // namespace heapgauge::figures
