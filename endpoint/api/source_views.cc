// GET api/v1/timeline: the heap over time, as `heapgauge timeline --json` prints it. Here `from`
// and `to` are the stretch that is shown; words of the filter that choose blocks choose what is
// counted in it.

#include "core/base/text.h"
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

// GET api/v1/lifetimes: how long blocks live, by size and by whom, as `heapgauge lifetimes --json`
// prints it. Here `from` and `to` choose blocks that were allocated between.

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

// GET api/v1/memory-map: how the memory of a source lies in the address space. Of a trace, at the
// moment `at` (the end if none is given): cells with how full they are and whose, and who pins
// pages, as `heapgauge stats --section pages --json` has it; `from` and `to` choose blocks that
// were allocated between. Of a process: its regions now, as `heapgauge memory --mappings --json`.

namespace {

constexpr std::string_view kMemoryMapParameters[] = {"cells", "by", "page", "rows", "start", "end"};

constexpr uint64_t kMostAddress = uint64_t{1} << 57;

Result<std::string> AnswerMemoryMap(const Call& call, const Filter& filter) {
  Source::MapWords words;
  HG_ASSIGN(words.cells, NumberOf(call, "cells", 1, 50'000, words.cells));
  HG_ASSIGN(words.rows, NumberOf(call, "rows", 0, 2000, words.rows));
  HG_ASSIGN(words.start, NumberOf(call, "start", 0, kMostAddress, 0));
  HG_ASSIGN(words.end, NumberOf(call, "end", 0, kMostAddress, 0));
  if (words.start > words.end) {
    return Fail(ErrorCode::kInvalidArgument, "start is behind end");
  }
  HG_ASSIGN(words.by, ChoiceOf(call, "by", {"function", "stack", "module", "thread"}));
  if (const auto page = call.Parameter("page"); page && !page->empty()) {
    const auto size = ParseSize(*page);
    constexpr uint64_t kLeast = 64;
    constexpr uint64_t kMost = 1 << 30;
    if (!size || *size < kLeast || *size > kMost || (*size & (*size - 1)) != 0) {
      return Fail(ErrorCode::kInvalidArgument, "page is a power of two from 64 to 1G");
    }
    words.page = *size;
  }
  HG_ASSIGN(const auto opened, OpenedOf(call, filter));
  return opened->source().MemoryMap(filter, words);
}

}  // namespace

const Resource kMemoryMapResource = {"api/v1/memory-map", kMemoryMapParameters, AnswerMemoryMap};

}  // namespace heapgauge::endpoint::api
