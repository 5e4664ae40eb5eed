#include "core/base/function_pattern.h"

#include "core/base/short_name.h"

namespace heapgauge {

bool MatchesFunction(const Regex& pattern, std::string_view name) {
  if (pattern.Matches(name)) return true;
  const bool has_short_form = name.find_first_of("(<[") != std::string_view::npos;
  return has_short_form && pattern.Matches(ShortName(name));
}

}  // namespace heapgauge
