// GET api/v1/timeline: the heap over time, as `heapgauge timeline --json` prints it. Here `from`
// and `to` are the stretch that is shown; words of the filter that choose blocks choose what is
// counted in it.

#include "core/report/views/timeline.h"
#include "endpoint/api/api.h"

namespace heapgauge::endpoint::api {
namespace {

constexpr std::string_view kTimelineParameters[] = {"steps", "stacks", "threads"};

Result<std::string> AnswerTimeline(const Call& call, const Filter& filter) {
  Source::Stretch stretch;
  stretch.filter = filter;
  HG_ASSIGN(stretch.steps, NumberOf(call, "steps", 1, 10'000, 1000));
  HG_ASSIGN(stretch.stacks, NumberOf(call, "stacks", 0, 50, 0));
  HG_ASSIGN(stretch.threads, NumberOf(call, "threads", 0, 100, 0));
  HG_ASSIGN(const auto opened, OpenedOf(call, filter));
  HG_ASSIGN(const auto timeline, opened->Over(stretch));
  return TimelineJson(*timeline);
}

}  // namespace

const Resource kTimelineResource = {"api/v1/timeline", kTimelineParameters, AnswerTimeline};

}  // namespace heapgauge::endpoint::api
