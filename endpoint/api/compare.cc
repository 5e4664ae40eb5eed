#include "endpoint/api/compare.h"

#include "core/fold/functions.h"
#include "core/report/views/diff.h"
#include "endpoint/api/api.h"

namespace heapgauge::endpoint::api {

Result<Filter> BaseOf(const Call& call, const Filter& filter) {
  Filter base = filter;
  const auto word = [&](std::string_view name) {
    return std::string(call.Parameter(name).value_or(""));
  };
  if (const std::string source = word("base"); !source.empty()) base.source = source;
  base.at = word("base-at");
  base.from = word("base-from");
  base.to = word("base-to");
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

// GET api/v1/diff: what changed from a base to the profile that the filter means, as `heapgauge
// diff --json` prints it. The base is another source, another moment of the same one, or both.

namespace {

constexpr std::string_view kDiffParameters[] = {"base",       "base-at",   "base-from",
                                                "base-to",    "base-peak", "base-hold",
                                                "cumulative", "rows",      "only-sure"};

Result<std::string> AnswerDiff(const Call& call, const Filter& filter) {
  HG_ASSIGN(const bool cumulative, FlagOf(call, "cumulative"));
  HG_ASSIGN(const bool only_sure, FlagOf(call, "only-sure"));
  HG_ASSIGN(const uint64_t rows, NumberOf(call, "rows", 0, 10'000, 200));
  HG_ASSIGN(const Filter base_filter, BaseOf(call, filter));
  HG_ASSIGN(const Looked base, LookAt(call, base_filter));
  HG_ASSIGN(const Looked now, LookAt(call, filter));
  DiffSources sources;
  sources.profiles = {base.subject->profile().get(), now.subject->profile().get()};
  sources.names = {NameOf(base), NameOf(now)};
  FunctionOptions options;
  options.filter = {filter.focus, filter.ignore};
  options.granularity = filter.granularity;
  options.cumulative = cumulative;
  HG_ASSIGN(options.sort, ChooseSort(filter.sort, *now.subject->profile()));
  HG_ASSIGN(const Comparison comparison, Compare(sources.profiles, options));
  DiffOptions shown;
  shown.rows = rows;
  shown.names = filter.names;
  shown.cumulative = cumulative;
  shown.only_sure = only_sure;
  return DiffJson(sources, comparison, shown);
}

}  // namespace

const Resource kDiffResource = {"api/v1/diff", kDiffParameters, AnswerDiff};

}  // namespace heapgauge::endpoint::api
