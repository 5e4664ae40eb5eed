#include "core/voices/pprof/measure.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <ctime>
#include <limits>

#include "core/base/numbers.h"

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

namespace {

// "." and `digits` digits of `fraction` without zeros at the end; "" if nothing is left.
std::string Fraction(uint64_t fraction, int digits) {
  std::string text = fmt::format(".{:0{}}", fraction, digits);
  while (text.ends_with('0')) text.pop_back();
  return text == "." ? "" : text;
}

}  // namespace

std::string GoTimeText(int64_t time_ns) {
  constexpr int64_t kSecond = 1'000'000'000;
  int64_t seconds = time_ns / kSecond;
  int64_t rest = time_ns % kSecond;
  if (rest < 0) {
    rest += kSecond;
    --seconds;
  }
  const std::time_t when = seconds;
  std::tm local{};
  if (localtime_r(&when, &local) == nullptr) return "";
  const long zone = local.tm_gmtoff / 60;
  return fmt::format("{}-{:02}-{:02} {:02}:{:02}:{:02}{} {}{:02}{:02} {}", local.tm_year + 1900,
                     local.tm_mon + 1, local.tm_mday, local.tm_hour, local.tm_min, local.tm_sec,
                     Fraction(static_cast<uint64_t>(rest), 9), zone < 0 ? '-' : '+',
                     std::abs(zone) / 60, std::abs(zone) % 60, local.tm_zone);
}

std::string GoDurationText(int64_t duration_ns) {
  if (duration_ns == 0) return "0s";
  const bool negative = duration_ns < 0;
  const uint64_t ns =
      negative ? -static_cast<uint64_t>(duration_ns) : static_cast<uint64_t>(duration_ns);
  std::string text = negative ? "-" : "";
  constexpr uint64_t kSecond = 1'000'000'000;
  if (ns < kSecond) {
    if (ns < 1000) return text + fmt::format("{}ns", ns);
    if (ns < 1'000'000) return text + fmt::format("{}{}µs", ns / 1000, Fraction(ns % 1000, 3));
    return text + fmt::format("{}{}ms", ns / 1'000'000, Fraction(ns % 1'000'000, 6));
  }
  const uint64_t seconds = ns / kSecond;
  if (seconds >= 3600) text += fmt::format("{}h", seconds / 3600);
  if (seconds >= 60) text += fmt::format("{}m", seconds / 60 % 60);
  return text + fmt::format("{}{}s", seconds % 60, Fraction(ns % kSecond, 9));
}

}  // namespace heapgauge::pprof
