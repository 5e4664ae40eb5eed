#include "core/pprof/measure.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>
#include <span>

namespace heapgauge::pprof {
namespace {

struct Unit {
  std::string_view name;  // as it is written
  double factor;          // in the basic unit of its kind
  std::array<std::string_view, 3> aliases;
};

struct UnitKind {
  std::span<const Unit> units;
  std::string_view fallback;  // written when a value suits none
  double fallback_factor;
};

constexpr Unit kMemory[] = {
    {"B", 1, {"b", "byte"}},
    {"kB", 0x1p10, {"kb", "kbyte", "kilobyte"}},
    {"MB", 0x1p20, {"mb", "mbyte", "megabyte"}},
    {"GB", 0x1p30, {"gb", "gbyte", "gigabyte"}},
    {"TB", 0x1p40, {"tb", "tbyte", "terabyte"}},
    {"PB", 0x1p50, {"pb", "pbyte", "petabyte"}},
};
constexpr Unit kTime[] = {
    {"ns", 1, {"ns", "nanosecond"}},    {"us", 1e3, {"\u03bcs", "us", "microsecond"}},
    {"ms", 1e6, {"ms", "millisecond"}}, {"s", 1e9, {"s", "sec", "second"}},
    {"hrs", 3600e9, {"hour", "hr"}},
};
constexpr Unit kCompute[] = {
    {"n*GCU", 1e-9, {"nanogcu"}}, {"u*GCU", 1e-6, {"microgcu"}}, {"m*GCU", 1e-3, {"milligcu"}},
    {"GCU", 1, {"gcu"}},          {"k*GCU", 1e3, {"kilogcu"}},   {"M*GCU", 1e6, {"megagcu"}},
    {"G*GCU", 1e9, {"gigagcu"}},  {"T*GCU", 1e12, {"teragcu"}},  {"P*GCU", 1e15, {"petagcu"}},
};
constexpr UnitKind kKinds[] = {
    {kMemory, "B", 1},
    {kTime, "s", 1e9},
    {kCompute, "GCU", 1},
};

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

const Unit* FindUnit(const UnitKind& kind, std::string_view name) {
  std::string lower = Lower(name);
  if (lower.size() > 2 && lower.back() == 's') lower.pop_back();  // plural
  if (lower.empty()) return nullptr;
  for (const Unit& unit : kind.units) {
    for (std::string_view alias : unit.aliases) {
      if (alias == lower) return &unit;
    }
  }
  return nullptr;
}

Scaled InKind(const UnitKind& kind, double value, std::string_view to) {
  if (to == "minimum" || to == "auto") {
    const Unit* best = nullptr;
    for (const Unit& unit : kind.units) {
      if (value / unit.factor >= 1) best = &unit;
    }
    if (best != nullptr) return {value / best->factor, best->name};
  } else if (const Unit* unit = FindUnit(kind, to)) {
    return {value / unit->factor, unit->name};
  }
  return {value / kind.fallback_factor, kind.fallback};
}

double PercentOf(int64_t value, int64_t total) {
  if (total == 0) return 0;
  return std::abs(static_cast<double>(value) / static_cast<double>(total)) * 100;
}

}  // namespace

Scaled Scale(int64_t value, std::string_view from, std::string_view to) {
  if (value < 0 && value != std::numeric_limits<int64_t>::min()) {
    Scaled positive = Scale(-value, from, to);
    return {-positive.value, positive.unit};
  }
  for (const UnitKind& kind : kKinds) {
    const Unit* unit = FindUnit(kind, from);
    if (unit != nullptr) return InKind(kind, static_cast<double>(value) * unit->factor, to);
  }
  if (to == "count" || to == "sample" || to == "unit" || to == "minimum" || to == "auto") {
    return {static_cast<double>(value), ""};
  }
  // Eighty objects are not 80kB, whatever unit was asked for. pprof says so.
  for (const UnitKind& kind : kKinds) {
    if (FindUnit(kind, to) != nullptr) return {static_cast<double>(value), ""};
  }
  return {static_cast<double>(value), to};
}

std::string ScaledLabel(int64_t value, std::string_view from, std::string_view to) {
  const Scaled scaled = Scale(value, from, to);
  std::string text = fmt::format("{:.2f}", scaled.value);
  if (text.ends_with(".00")) text.resize(text.size() - 3);
  if (text == "0" || text == "-0") return "0";
  return text.append(scaled.unit);
}

std::string Label(int64_t value, std::string_view unit) { return ScaledLabel(value, unit, "auto"); }

std::string Percentage(int64_t value, int64_t total) {
  const double percent = PercentOf(value, total);
  if (percent >= 99.95 && percent <= 100.05) return "  100%";
  if (percent >= 1) return fmt::format("{:5.2f}%", percent);
  return fmt::format("{:5.2g}%", percent);
}

std::string TrimmedPercentage(int64_t value, int64_t total) {
  std::string text = Percentage(value, total);
  text.erase(0, text.find_first_not_of(' '));
  return text;
}

bool UnitsCompatible(std::string_view a, std::string_view b) {
  if (a == b) return true;
  for (const UnitKind& kind : kKinds) {
    if (FindUnit(kind, a) != nullptr && FindUnit(kind, b) != nullptr) return true;
  }
  return false;
}

int64_t ToInt64(double value) {
  if (!(value >= -0x1p63 && value < 0x1p63)) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(value);
}

int64_t ValueFormat::Divided(int64_t value) const {
  if (ratio_ > 0 && ratio_ != 1) return ToInt64(static_cast<double>(value) * ratio_);
  return value;
}

std::string ValueFormat::operator()(int64_t value) const {
  return ScaledLabel(Divided(value), sample_unit_, output_unit_);
}

}  // namespace heapgauge::pprof
