// How pprof writes numbers, percentages and times.
//
// Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/numbers.h"

namespace heapgauge::pprof {

// How pprof writes numbers: which unit a value is shown in, with how many digits, and percentages.
//
// Values are whole numbers in the unit of their sample type. Units are known by several names each
// ("b", "bytes", "kb", "kilobyte"); "minimum" and "auto" as a target both mean the largest unit in
// which the value is at least one. Numbers whose own unit is none of memory, time or compute (GCU)
// are shown as they are.
struct Scaled {
  double value = 0;
  std::string_view unit;  // "" if not worth telling; a constant, or `to` itself
};

// `value` of unit `from` in unit `to`. A target of another kind gives the basic unit of `from`.
Scaled Scale(int64_t value, std::string_view from, std::string_view to);

// "1.50MB": two digits unless they are zero; "0" without a unit.
std::string ScaledLabel(int64_t value, std::string_view from, std::string_view to);
// In the unit that suits the value.
std::string Label(int64_t value, std::string_view unit);

// "12.34%", five wide or more; "  100%" if it is so nearly, two significant digits below 1 %.
std::string Percentage(int64_t value, int64_t total);
// The same without leading spaces.
std::string TrimmedPercentage(int64_t value, int64_t total);

// A whole number as Go's strconv reads it: "+" may stand before it.
template <typename Number>
std::optional<Number> GoNumber(std::string_view text) {
  if (!text.starts_with('+')) return NumberIn<Number>(text);
  return text.starts_with("+-") ? std::nullopt : NumberIn<Number>(text.substr(1));
}

// A float as a whole number, as the Go compiler has it on x86-64: out of range is the smallest one.
int64_t ToInt64(double value);

// The numbers of one report.
class ValueFormat {
 public:
  ValueFormat(double divide_by, std::string sample_unit, std::string output_unit)
      : ratio_(1 / divide_by),
        sample_unit_(std::move(sample_unit)),
        output_unit_(std::move(output_unit)) {}

  std::string operator()(int64_t value) const;

  const std::string& sample_unit() const { return sample_unit_; }
  const std::string& output_unit() const { return output_unit_; }
  void set_output_unit(std::string unit) { output_unit_ = std::move(unit); }
  // The value after divide_by.
  int64_t Divided(int64_t value) const;

 private:
  double ratio_;
  std::string sample_unit_;
  std::string output_unit_;
};

// Times and durations as Go prints them, for reports that must look as pprof's do.

// "2026-01-02 15:04:05.25 +0100 CET", in the zone of this machine; nanoseconds since 1970.
std::string GoTimeText(int64_t time_ns);

// "1h2m3.5s", "1.5ms", "0s".
std::string GoDurationText(int64_t duration_ns);

}  // namespace heapgauge::pprof
