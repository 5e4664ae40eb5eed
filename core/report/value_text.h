// Figures with the unit of their sample type, as people read them: bytes, times and counts, also
// negative ones, which differences have.
//
// Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "core/fold/measures.h"

namespace heapgauge {

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
