#include "core/report/value_text.h"

#include <fmt/format.h>

#include <cmath>

#include "core/base/text.h"

namespace heapgauge {
namespace {

// Nanoseconds in one of the unit; 0: not a time.
double NanosecondsOf(std::string_view unit) {
  if (unit == "nanoseconds" || unit == "ns") return 1;
  if (unit == "microseconds" || unit == "us") return 1e3;
  if (unit == "milliseconds" || unit == "ms") return 1e6;
  if (unit == "seconds" || unit == "s") return 1e9;
  return 0;
}

std::string FormatTime(double ns) {
  if (ns < 999.5) return fmt::format("{:.0f}ns", ns);
  if (ns < 999.5e3) return fmt::format("{:.3g}us", ns / 1e3);
  if (ns < 999.5e6) return fmt::format("{:.3g}ms", ns / 1e6);
  if (ns < 99.95e9) return fmt::format("{:.3g}s", ns / 1e9);
  return FormatDuration(ns < 1e19 ? static_cast<uint64_t>(ns) : ~uint64_t{0});
}

std::string FormatPositive(double value, std::string_view unit) {
  if (unit == "bytes") return FormatBytes(value);
  if (unit == "byte-seconds") {
    return value > 0 && value < 1 ? FormatBytes(value * 1e6) + "*us" : FormatBytes(value) + "*s";
  }
  if (const double ns = NanosecondsOf(unit); ns != 0) return FormatTime(value * ns);
  return FormatCount(value);
}

}  // namespace

std::string FormatValue(double value, std::string_view unit) {
  if (!std::isfinite(value)) return "-";
  return value < 0 ? "-" + FormatPositive(-value, unit) : FormatPositive(value, unit);
}

std::string FormatValueRange(double low, double high, std::string_view unit) {
  if (unit == "bytes" && low >= 0) return FormatByteRange(low, high);
  return FormatValue(low, unit) + (low < 0 || high < 0 ? " to " : "-") + FormatValue(high, unit);
}

std::string FormatMain(double value, const Measures& measures) {
  return measures.is_change ? FormatChange(value, measures.unit)
                            : FormatValue(value, measures.unit);
}

std::string FormatMainCount(double count, const Measures& measures) {
  return measures.is_change ? FormatChange(count, "count") : FormatCount(count);
}

std::string FormatChange(double value, std::string_view unit) {
  const std::string text = FormatPositive(std::fabs(value), unit);
  if (!std::isfinite(value) || text == FormatPositive(0, unit)) return "0";
  return (value > 0 ? "+" : "-") + text;
}

}  // namespace heapgauge
