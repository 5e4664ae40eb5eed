#include "core/voices/pprof/dot_style.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/source/source_path.h"
#include "core/voices/pprof/measure.h"
#include "core/voices/pprof/short_function_name.h"

namespace heapgauge::pprof {
namespace {

std::string Replaced(std::string_view text, std::string_view what, std::string_view with) {
  std::string result;
  for (size_t at; (at = text.find(what)) != std::string_view::npos;) {
    result += text.substr(0, at);
    result += with;
    text.remove_prefix(at + what.size());
  }
  return result.append(text);
}

unsigned Channel(double value) {
  return static_cast<unsigned>(static_cast<uint64_t>(ToInt64(value * 255)) & 0xff);
}

}  // namespace

std::string DotColor(double share, bool background) {
  double saturation = background ? 0.1 : 1.0;
  const double value = background ? 0.93 : 0.7;
  if (share > 1) share = 1;
  if (share < -1) share = -1;
  // Grey near zero, where the hue would say yellow.
  if (std::abs(share) < 0.2) saturation *= std::abs(share) / 0.2;
  // Small shares are moved away from grey, so that their sign can be seen.
  constexpr double kExponent = 0.3;
  if (share > 0) share = std::pow(share, kExponent);
  if (share < 0) share = -std::pow(-share, kExponent);
  const double red = share < 0 ? value * (1 + saturation * share) : value;
  const double green = share < 0 ? value : value * (1 - saturation * share);
  const double blue = value * (1 - saturation);
  return fmt::format("#{:02x}{:02x}{:02x}", Channel(red), Channel(green), Channel(blue));
}

std::string DotEscaped(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  for (char c : text) {
    if (c == '\\') {
      escaped += "\\\\";
    } else if (c == '"') {
      escaped += "\\\"";
    } else if (c == '\n') {
      escaped += "\\l";  // a line that begins at the left
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string DotName(const NodeInfo& info) {
  std::string name = DotEscaped(ShortenFunctionName(info.name));
  name = Replaced(name, "::", "\\n");
  name = Replaced(name, "[...]", "[\u2026]");  // Go's type parameters: these dots stay together
  name = Replaced(name, ".", "\\n");
  NodeInfo shown = info;
  shown.name = name;
  if (!info.file.empty()) shown.file = LastPart(info.file);
  std::string text;
  for (const std::string& part : NameParts(shown)) text += part + "\\n";
  return text;
}

}  // namespace heapgauge::pprof
