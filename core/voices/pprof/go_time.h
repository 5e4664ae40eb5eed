// Times and durations as Go prints them, for reports that must look as pprof's do.
#pragma once

#include <cstdint>
#include <string>

namespace heapgauge::pprof {

// "2026-01-02 15:04:05.25 +0100 CET", in the zone of this machine; nanoseconds since 1970.
std::string GoTimeText(int64_t time_ns);

// "1h2m3.5s", "1.5ms", "0s".
std::string GoDurationText(int64_t duration_ns);

}  // namespace heapgauge::pprof
