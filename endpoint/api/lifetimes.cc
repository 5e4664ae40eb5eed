// GET api/v1/lifetimes: how long blocks live, by size and by whom, as `heapgauge lifetimes --json`
// prints it. Here `from` and `to` choose blocks that were allocated between.

#include "endpoint/api/api.h"

namespace heapgauge::endpoint::api {
namespace {

constexpr std::string_view kLifetimesParameters[] = {"rows", "by", "order"};

Result<std::string> AnswerLifetimes(const Call& call, const Filter& filter) {
  Source::LifetimeWords words;
  HG_ASSIGN(words.rows, NumberOf(call, "rows", 0, 1000, words.rows));
  HG_ASSIGN(words.by, ChoiceOf(call, "by", {"function", "stack", "module", "thread"}));
  HG_ASSIGN(words.order,
            ChoiceOf(call, "order", {"blocks", "bytes", "never", "temporary", "lifetime"}));
  HG_ASSIGN(const auto opened, OpenedOf(call, filter));
  return opened->source().Lifetimes(filter, words);
}

}  // namespace

const Resource kLifetimesResource = {"api/v1/lifetimes", kLifetimesParameters, AnswerLifetimes};

}  // namespace heapgauge::endpoint::api
