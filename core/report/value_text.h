// Figures as people read them: whole numbers of exact traces, and values with the unit of their
// sample type.
//
// Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/text.h"
#include "core/fold/measures.h"

namespace heapgauge::figures {

// Whole numbers as reports show them: the counts and sizes of an exact trace, and of anything else
// that is no estimate.
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

namespace heapgauge {

// Figures with the unit of their sample type, as people read them: bytes, times and counts, also
// negative ones, which differences have.

// "12.3 MB", "-831 B"; "1.25s", "850us"; "12.3 MB*s" for byte-seconds, "8.4 kB*us" for less than
// one; "12,345" for anything that is neither bytes nor time.
std::string FormatValue(double value, std::string_view unit);

// "10.1-14.8 MB".
std::string FormatValueRange(double low, double high, std::string_view unit);

// The main figure of a profile: with a sign if it is a change.
std::string FormatMain(double value, const Measures& measures);

// The same in objects.
std::string FormatMainCount(double count, const Measures& measures);

// With a sign: "+12.3 MB", "-831 B", "0".
std::string FormatChange(double value, std::string_view unit);

}  // namespace heapgauge
