#include "core/base/function_name.h"

#include "core/base/short_name.h"

namespace heapgauge {
namespace {

// The length of an operator's name with brackets in it that begins at `at`; 0 if there is none.
// Asked at every character of every name, so what all of them begin with is compared first.
size_t OperatorLength(std::string_view name, size_t at) {
  static constexpr std::string_view kWord = "operator";
  static constexpr std::string_view kOperators[] = {"()", "<<=", ">>=", "<=>", "->*", "<<",
                                                    ">>", "<=",  ">=",  "->",  "<",   ">"};
  if (name[at] != kWord[0] || !name.substr(at).starts_with(kWord)) return 0;
  const std::string_view rest = name.substr(at + kWord.size());
  for (const std::string_view op : kOperators) {
    if (rest.starts_with(op)) return kWord.size() + op.size();
  }
  return 0;
}

}  // namespace

std::string WithoutParameters(std::string_view name) {
  // Looks for the bracket that opens the parameter list: outside of <> and {}, not part of
  // "operator()", and not followed by more scope, as "(anonymous namespace)" is.
  int angle = 0;  // and braces
  int round = 0;
  size_t opened = std::string_view::npos;
  for (size_t i = 0; i < name.size(); ++i) {
    if (const size_t length = OperatorLength(name, i); length != 0) {
      i += length - 1;
      continue;
    }
    const char c = name[i];
    if (c == '<' || c == '{') ++angle;
    if ((c == '>' || c == '}') && angle > 0 && (i == 0 || name[i - 1] != '-')) --angle;
    if (angle > 0) continue;
    if (c == '(') {
      if (round++ == 0) opened = i;
    } else if (c == ')' && round > 0 && --round == 0) {
      // A list is followed by nothing, or by qualifiers; "(...)::x" is a scope.
      if (name.substr(i + 1, 2) == "::") continue;
      const std::string_view rest = name.substr(i + 1);
      if (rest.substr(0, 6) == " const" && rest.substr(6, 2) == "::") continue;
      std::string shortened(name.substr(0, opened));
      // What follows as "[clone .x]" tells variants apart.
      const size_t clone = rest.find(" [clone");
      if (clone != std::string_view::npos) shortened += rest.substr(clone);
      return shortened.empty() ? std::string(name) : shortened;
    }
  }
  return std::string(name);
}

std::string WithoutLines(std::string_view name, std::string_view line) {
  static constexpr std::string_view kLine = ", line ";
  std::string text;
  size_t at = 0;
  for (size_t found = name.find(kLine); found != std::string_view::npos;
       found = name.find(kLine, at)) {
    const size_t end = name.find_first_not_of("0123456789", found + kLine.size());
    const bool is_one = end != std::string_view::npos && name[end] == '}';
    text += name.substr(at, found - at);
    text += is_one ? line : kLine;
    at = is_one ? end : found + kLine.size();
  }
  return text += name.substr(at);
}

bool MatchesFunction(const Regex& pattern, std::string_view name) {
  if (pattern.Matches(name)) return true;
  const bool has_short_form = name.find_first_of("(<[") != std::string_view::npos;
  return has_short_form && pattern.Matches(ShortName(name));
}

}  // namespace heapgauge
