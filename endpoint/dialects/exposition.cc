#include "endpoint/dialects/exposition.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/text.h"

namespace heapgauge::endpoint {
namespace {

// Values are UTF-8 with three escapes. Printable() has taken out control characters.
std::string LabelValue(std::string_view text) {
  std::string out;
  for (const char c : Printable(text)) {
    if (c == '\\' || c == '"') out += '\\';
    out += c;
  }
  return out;
}

std::string Number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  // Whole numbers as such, up to where a double stops counting by one.
  if (value == std::floor(value) && std::fabs(value) < 9e15) {
    return std::to_string(static_cast<int64_t>(value));
  }
  return fmt::format("{}", value);
}

}  // namespace

void Exposition::Add(const Metric& metric, const Labels& labels, double value) {
  auto family = std::find_if(families_.begin(), families_.end(),
                             [&](const Family& f) { return f.metric.name == metric.name; });
  if (family == families_.end()) family = families_.insert(family, {metric, ""});
  std::string& out = family->samples;
  out += metric.name;
  const char* separator = "{";
  for (const auto& [name, text] : labels) {
    out += fmt::format("{}{}=\"{}\"", separator, name, LabelValue(text));
    separator = ",";
  }
  out += labels.empty() ? " " : "} ";
  out += Number(value) + "\n";
}

std::string Exposition::Text() const {
  std::string text;
  for (const Family& family : families_) {
    const Metric& m = family.metric;
    text += fmt::format("# HELP {} {}\n# TYPE {} {}\n", m.name, m.help, m.name,
                        m.kind == MetricKind::kCounter ? "counter" : "gauge");
    text += family.samples;
  }
  return text;
}

}  // namespace heapgauge::endpoint
