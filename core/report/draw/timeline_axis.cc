#include "core/report/draw/timeline_axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/base/text.h"

namespace heapgauge {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kMinute = 60 * kSecond;
constexpr uint64_t kHour = 60 * kMinute;
constexpr uint64_t kDay = 24 * kHour;

// The least of 1, 2, 5, 10, 20, 50, ... that is not below.
uint64_t RoundDecimal(uint64_t least) {
  uint64_t power = 1;
  while (power < UINT64_MAX / 100 && power * 10 <= least) power *= 10;
  for (const uint64_t factor : {1, 2, 5, 10}) {
    if (power * factor >= least) return power * factor;
  }
  return power * 10;
}

uint64_t RoundBinary(uint64_t least) {
  uint64_t power = 1;
  while (power < least && power < UINT64_C(1) << 62) power *= 2;
  return power;
}

uint64_t RoundTime(uint64_t least) {
  if (least <= 10 * kSecond) return RoundDecimal(least);
  static constexpr uint64_t kSteps[] = {15 * kSecond, 20 * kSecond, 30 * kSecond, kMinute,
                                        2 * kMinute,  5 * kMinute,  10 * kMinute, 15 * kMinute,
                                        30 * kMinute, kHour,        2 * kHour,    3 * kHour,
                                        6 * kHour,    12 * kHour,   kDay};
  for (const uint64_t step : kSteps) {
    if (step >= least) return step;
  }
  return RoundDecimal((least - 1) / kDay + 1) * kDay;
}

// Digits behind the point so that `step` can be told.
int Digits(uint64_t step, uint64_t unit) {
  int digits = 0;
  for (; step < unit && digits < 9; ++digits) unit /= 10;
  return digits;
}

// `most` decides about the unit, so that all marks of an axis have the same one.
std::string TimeText(uint64_t ns, uint64_t step, uint64_t most) {
  const auto in = [&](uint64_t unit, const char* name) {
    return fmt::format("{:.{}f}{}", static_cast<double>(ns) / static_cast<double>(unit),
                       Digits(step, unit), name);
  };
  if (most < 1000) return fmt::format("{}ns", ns);
  if (most < 1'000'000) return in(1000, "us");
  if (most < kSecond) return in(1'000'000, "ms");
  if (ns < kMinute) return in(kSecond, "s");
  if (step >= kMinute && ns >= kDay) {
    return fmt::format("{}d{:02}h{:02}m", ns / kDay, ns % kDay / kHour, ns % kHour / kMinute);
  }
  if (step >= kMinute && ns >= kHour) {
    return fmt::format("{}h{:02}m", ns / kHour, ns % kHour / kMinute);
  }
  const int digits = Digits(step, kSecond);
  // 59.97 seconds must not become 60.0.
  uint64_t unit = kSecond;
  for (int i = 0; i < digits; ++i) unit /= 10;
  ns = (ns + unit / 2) / unit * unit;
  const std::string seconds =
      fmt::format("{:0{}.{}f}s", static_cast<double>(ns % kMinute) / static_cast<double>(kSecond),
                  digits > 0 ? digits + 3 : 2, digits);
  if (ns < kHour) return fmt::format("{}m{}", ns / kMinute, seconds);
  return fmt::format("{}h{:02}m{}", ns / kHour, ns % kHour / kMinute, seconds);
}

std::string RoundCount(uint64_t count) {
  static constexpr const char* kUnits[] = {"", "k", "M", "G", "T", "P", "E"};
  auto value = static_cast<double>(count);
  size_t unit = 0;
  for (; value >= 1000 && unit + 1 < std::size(kUnits); ++unit) value /= 1000;
  return fmt::format("{:.6g}{}", value, kUnits[unit]);
}

}  // namespace

std::string RoundBytes(uint64_t bytes) {
  static constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(kUnits); ++unit) value /= 1024;
  return fmt::format("{:.4g} {}", value, kUnits[unit]);
}

std::vector<Tick> TicksOf(TimeAxis axis, uint64_t from, uint64_t to, size_t most) {
  std::vector<Tick> ticks;
  if (most == 0 || to <= from) return ticks;
  const uint64_t least = std::max<uint64_t>((to - from) / most, 1);
  const uint64_t step = axis == TimeAxis::kTime    ? RoundTime(least)
                        : axis == TimeAxis::kBytes ? RoundBinary(least)
                                                   : RoundDecimal(least);
  for (uint64_t at = from / step * step; at <= to; at += step) {
    if (at >= from) {
      ticks.push_back({at, at == 0                    ? "0"
                           : axis == TimeAxis::kTime  ? TimeText(at, step, to)
                           : axis == TimeAxis::kBytes ? RoundBytes(at)
                                                      : RoundCount(at)});
    }
    if (at > UINT64_MAX - step) break;
  }
  return ticks;
}

std::string PlaceOn(TimeAxis axis, uint64_t at, uint64_t length) {
  switch (axis) {
    case TimeAxis::kTime: {
      uint64_t step = 1;
      while (step < kSecond && step * 10 <= length / 1000) step *= 10;
      return TimeText(at, step, at);
    }
    case TimeAxis::kBytes:
      return FormatBytes(static_cast<double>(at));
    case TimeAxis::kEvents:
    case TimeAxis::kInstructions:
      break;
  }
  return FormatCount(static_cast<double>(at));
}

}  // namespace heapgauge
