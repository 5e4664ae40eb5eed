#include "core/trace/file/moment.h"

#include <fmt/format.h>

#include <string>

namespace heapgauge::trace {

std::string FormatMoment(uint64_t ns) {
  const auto in = [&](double unit, const char* name) {
    std::string text = fmt::format("{:.3f}", static_cast<double>(ns) / unit);
    while (text.back() == '0') text.pop_back();
    if (text.back() == '.') text.pop_back();
    return text + name;
  };
  if (ns == 0) return "0s";
  if (ns < 1'000) return fmt::format("{}ns", ns);
  if (ns < 1'000'000) return in(1e3, "us");
  if (ns < 1'000'000'000) return in(1e6, "ms");
  const uint64_t tenths = ns / 100'000'000;
  if (tenths < 600) return in(1e9, "s");
  const uint64_t s = tenths / 10;
  if (s < 3600) return fmt::format("{}m{:02}.{}s", s / 60, s % 60, tenths % 10);
  return fmt::format("{}h{:02}m{:02}s", s / 3600, s / 60 % 60, s % 60);
}

std::string FormatMoment(const TraceMoment& moment) {
  if (moment.is_start()) return "the start";
  const std::string time = FormatMoment(moment.time_ns);
  // No other moment can be written that is among events of the same time.
  return moment.is_among_events() ? "the peak (" + time + ")" : time;
}

}  // namespace heapgauge::trace
