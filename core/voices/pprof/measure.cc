#include "core/voices/pprof/measure.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "core/base/units.h"

namespace heapgauge::pprof {
namespace {

// pprof takes the last letter of this one, which has three bytes, for a plural.
constexpr std::string_view kUnknownToPprof = "\u03bcs";

const NamedUnit* Find(const UnitKind& kind, std::string_view name) {
  return name == kUnknownToPprof ? nullptr : FindUnit(kind, name);
}

Scaled InKind(const UnitKind& kind, double value, std::string_view to) {
  if (to == "minimum" || to == "auto") {
    const NamedUnit* best = nullptr;
    for (const NamedUnit& unit : kind.units) {
      if (value / unit.factor >= 1) best = &unit;
    }
    if (best != nullptr) return {value / best->factor, best->name};
  } else if (const NamedUnit* unit = Find(kind, to)) {
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
  for (const UnitKind& kind : UnitKinds()) {
    const NamedUnit* unit = Find(kind, from);
    if (unit != nullptr) return InKind(kind, static_cast<double>(value) * unit->factor, to);
  }
  if (to == "count" || to == "sample" || to == "unit" || to == "minimum" || to == "auto") {
    return {static_cast<double>(value), ""};
  }
  // Eighty objects are not 80kB, whatever unit was asked for. pprof says so.
  for (const UnitKind& kind : UnitKinds()) {
    if (Find(kind, to) != nullptr) return {static_cast<double>(value), ""};
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
