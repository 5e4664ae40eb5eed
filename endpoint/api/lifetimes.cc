// GET api/v1/lifetimes: how long blocks live, by size and by whom, as `heapgauge lifetimes --json`
// prints it. Here `from` and `to` choose blocks that were allocated between.

#include "endpoint/api/api.h"

namespace heapgauge::endpoint::api {
namespace {

constexpr std::string_view kParameters[] = {"rows"};

Result<std::string> AnswerLifetimes(const Call& call, const Filter& filter) {
  HG_ASSIGN(const uint64_t rows, NumberOf(call, "rows", 0, 1000, 20));
  HG_ASSIGN(const auto opened, OpenedOf(call, filter));
  return opened->source().Lifetimes(filter, rows);
}

}  // namespace

const Resource kLifetimesResource = {"api/v1/lifetimes", kParameters, AnswerLifetimes};

}  // namespace heapgauge::endpoint::api
