// Units that can be turned into each other: sizes of memory, times, and Google's compute units, by
// the names that pprof takes for them.
//
// Pure.
#ifndef HEAPGAUGE_CORE_BASE_UNITS_H_
#define HEAPGAUGE_CORE_BASE_UNITS_H_

#include <optional>
#include <string_view>

namespace heapgauge {

// How many of `to` are one of `from`: ("kB", "bytes") is 1024. None if they do not measure the same
// or are not known. Case and a final "s" do not matter.
std::optional<double> UnitRatio(std::string_view from, std::string_view to);

}  // namespace heapgauge

#endif  // HEAPGAUGE_CORE_BASE_UNITS_H_
