#include "core/voices/pprof/dot_style.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/regex.h"
#include "core/source/source_path.h"
#include "core/voices/pprof/measure.h"

namespace heapgauge::pprof {
namespace {

// A package path of Go with a major version: "example.com/a/v2/b".
const Regex& GoVersion() {
  static const Regex expression(R"(^(.*?)/v(?:[2-9]|[1-9][0-9]+)([./].*)$)");
  return expression;
}

// The rest of a Go name behind its last directory.
const Regex& GoPath() {
  static const Regex expression(R"(^(?:[\w\-\.]+/)+(.+))");
  return expression;
}

// Class and method of a Java name, in front of parameters or the end.
const Regex& JavaMethod() {
  static const Regex expression(
      R"(^(?:[a-z]\w*\.)*([A-Z][\w\$]*\.(?:<init>|[a-z][\w\$]*(?:\$\d+)?))(?:\(|$))");
  return expression;
}

// Class and method of a C++ name, with template arguments.
const Regex& CppMethod() {
  static const Regex expression(R"(^(?:[_a-zA-Z]\w*::)+(_*[A-Z]\w*::~?[_a-zA-Z]\w*(?:<.*>)?))");
  return expression;
}

}  // namespace

std::string ShortenFunctionName(std::string_view name) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  if (name.starts_with(kAnonymous)) name.remove_prefix(kAnonymous.size());
  std::string text(name);
  std::string_view head, tail, found;
  if (GoVersion().Matches(name, &head, &tail)) text = std::string(head) += tail;
  for (const Regex* expression : {&GoPath(), &JavaMethod(), &CppMethod()}) {
    if (expression->Matches(text, &found)) return std::string(found);
  }
  return text;
}

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
