// Sets of kinds and of heuristics as people write them on a command line or in a file of
// suppressions: "definite,possible", "all", "none".
//
// Pure functions. A set is a word with bit n for value n of the enum.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/leaks/scan/verdict.h"

namespace heapgauge::leaks {

constexpr uint32_t Bit(Kind kind) { return 1u << static_cast<uint32_t>(kind); }
constexpr bool Has(uint32_t kinds, Kind kind) { return (kinds & Bit(kind)) != 0; }
inline constexpr uint32_t kAllKinds = (1u << kKinds) - 1;

// "definite,indirect,possible,reachable", "all", "none".
Result<uint32_t> ParseKinds(std::string_view text);

// "stdstring,length64,newarray,multipleinheritance", "all", "none".
Result<uint32_t> ParseHeuristics(std::string_view text);

// "definitely lost", "still reachable": as memcheck's summary says it.
const char* KindPhrase(Kind kind);

}  // namespace heapgauge::leaks
