#include "core/leaks/verdict/name_pattern.h"

#include <string>

namespace heapgauge::leaks {
namespace {

// '*' stands for any text; '?' for any character, if `one_of_any`.
bool Matches(std::string_view pattern, std::string_view text, bool one_of_any) {
  size_t p = 0;
  size_t t = 0;
  size_t star = std::string_view::npos;
  size_t mark = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      mark = t;
    } else if (p < pattern.size() && ((one_of_any && pattern[p] == '?') || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++mark;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace

bool MatchesGlob(std::string_view pattern, std::string_view text) {
  return Matches(pattern, text, true);
}

bool MatchesTemplate(std::string_view pattern, std::string_view text) {
  std::string glob;
  if (!pattern.empty() && pattern.front() == '^') {
    pattern.remove_prefix(1);
  } else {
    glob += '*';
  }
  const bool to_the_end = !pattern.empty() && pattern.back() == '$';
  if (to_the_end) pattern.remove_suffix(1);
  glob += pattern;
  if (!to_the_end) glob += '*';
  return Matches(glob, text, false);
}

}  // namespace heapgauge::leaks
