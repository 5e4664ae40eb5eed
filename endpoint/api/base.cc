#include "endpoint/api/base.h"

namespace heapgauge::endpoint::api {

Result<Filter> BaseOf(const Call& call, const Filter& filter) {
  Filter base = filter;
  const auto word = [&](std::string_view name) {
    return std::string(call.Parameter(name).value_or(""));
  };
  if (const std::string source = word("base"); !source.empty()) base.source = source;
  base.words.at = word("base-at");
  base.words.from = word("base-from");
  base.words.to = word("base-to");
  base.hold = word("base-hold");
  HG_ASSIGN(base.peak, FlagOf(call, "base-peak"));
  return base;
}

bool HasBase(const Call& call) {
  for (const std::string_view word :
       {"base", "base-at", "base-from", "base-to", "base-peak", "base-hold"}) {
    if (!call.Parameter(word).value_or("").empty()) return true;
  }
  return false;
}

std::string NameOf(const Looked& looked) {
  const std::string& moment = looked.subject->profile()->recording.moment;
  return looked.opened->source().facts().title + (moment.empty() ? "" : " " + moment);
}

}  // namespace heapgauge::endpoint::api
