#include "core/leaks/verdict/estimate_text.h"

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/fold/interval.h"

namespace heapgauge::leaks {

std::string EstimateText(const Estimate& bytes, bool utf8) {
  const Interval range = Interval95(bytes);
  std::string value = FormatBytes(bytes.value);
  const double half = (range.high - range.low) / 2;
  if (!(half >= bytes.value * 1e-3) || !(half > 0)) return value;
  if (half >= bytes.value) {
    return fmt::format("{} (95 %: {})", value, FormatByteRange(range.low, range.high));
  }
  const std::string unit = value.substr(value.find(' '));
  double scale = 1;
  for (const char* u : {" B", " kB", " MB", " GB", " TB", " PB", " EB"}) {
    if (unit == u) break;
    scale *= 1024;
  }
  const double scaled = half / scale;
  const std::string width =
      scale > 1 && scaled < 0.1
          ? FormatBytes(half)
          : fmt::format("{:.{}f}", scaled, scaled < 9.95 && scale > 1 ? 1 : 0);
  return fmt::format("{} {} {}", value, utf8 ? "\u00b1" : "+-", width);
}

}  // namespace heapgauge::leaks
