// Units that can be turned into each other: sizes of memory, times, and Google's compute units, by
// the names that pprof takes and writes for them. The one table of them.
//
// Pure; the table is constant.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>

namespace heapgauge {

struct NamedUnit {
  std::string_view name;  // as it is written
  double factor;          // in the basic unit of its kind
  std::array<std::string_view, 3> aliases;
};

struct UnitKind {
  std::span<const NamedUnit> units;  // from the smallest on
  std::string_view fallback;    // written when a value suits none
  double fallback_factor;
};

std::span<const UnitKind> UnitKinds();

// The unit of that kind and name, or null. Case and a final "s" do not matter.
const NamedUnit* FindUnit(const UnitKind& kind, std::string_view name);

// How many of `to` are one of `from`: ("kB", "bytes") is 1024. None if they do not measure the same
// or are not known.
std::optional<double> UnitRatio(std::string_view from, std::string_view to);

}  // namespace heapgauge
