#include "core/base/numbers.h"

#include <string>

#include "core/base/text.h"

namespace heapgauge {
namespace {

constexpr NamedUnit kMemory[] = {
    {"B", 1, {"b", "byte"}},
    {"kB", 0x1p10, {"kb", "kbyte", "kilobyte"}},
    {"MB", 0x1p20, {"mb", "mbyte", "megabyte"}},
    {"GB", 0x1p30, {"gb", "gbyte", "gigabyte"}},
    {"TB", 0x1p40, {"tb", "tbyte", "terabyte"}},
    {"PB", 0x1p50, {"pb", "pbyte", "petabyte"}},
};
constexpr NamedUnit kTime[] = {
    {"ns", 1, {"ns", "nanosecond"}},    {"us", 1e3, {"\u03bcs", "us", "microsecond"}},
    {"ms", 1e6, {"ms", "millisecond"}}, {"s", 1e9, {"s", "sec", "second"}},
    {"hrs", 3600e9, {"hour", "hr"}},
};
constexpr NamedUnit kCompute[] = {
    {"n*GCU", 1e-9, {"nanogcu"}}, {"u*GCU", 1e-6, {"microgcu"}}, {"m*GCU", 1e-3, {"milligcu"}},
    {"GCU", 1, {"gcu"}},          {"k*GCU", 1e3, {"kilogcu"}},   {"M*GCU", 1e6, {"megagcu"}},
    {"G*GCU", 1e9, {"gigagcu"}},  {"T*GCU", 1e12, {"teragcu"}},  {"P*GCU", 1e15, {"petagcu"}},
};
constexpr UnitKind kKinds[] = {
    {kMemory, "B", 1},
    {kTime, "s", 1e9},
    {kCompute, "GCU", 1},
};

const NamedUnit* ByAlias(const UnitKind& kind, std::string_view alias) {
  if (alias.empty()) return nullptr;  // aliases that a unit does not have are empty
  for (const NamedUnit& unit : kind.units) {
    for (const std::string_view known : unit.aliases) {
      if (known == alias) return &unit;
    }
  }
  return nullptr;
}

}  // namespace

std::span<const UnitKind> UnitKinds() { return kKinds; }

const NamedUnit* FindUnit(const UnitKind& kind, std::string_view name) {
  std::string lower = LowerCase(name);
  if (const NamedUnit* unit = ByAlias(kind, lower)) return unit;
  if (lower.size() < 3 || lower.back() != 's') return nullptr;
  lower.pop_back();
  return ByAlias(kind, lower);
}

std::optional<double> UnitRatio(std::string_view from, std::string_view to) {
  if (from == to) return 1;
  for (const UnitKind& kind : kKinds) {
    const NamedUnit* a = FindUnit(kind, from);
    const NamedUnit* b = FindUnit(kind, to);
    if (a != nullptr && b != nullptr) return a->factor / b->factor;
  }
  return std::nullopt;
}

}  // namespace heapgauge
