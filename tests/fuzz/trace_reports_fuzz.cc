// libFuzzer target: every report that can be made of a trace, of traces that were damaged so that
// no checksum tells. What they say does not matter here; that they come to an end does.
//
//   build/bin/trace_reports_fuzz -max_len=65536 -rss_limit_mb=1024 corpus/

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/formats/massif/trace_massif.h"
#include "core/trace/answer/heap_layout.h"
#include "core/trace/answer/lifetimes.h"
#include "core/trace/answer/stats.h"
#include "core/trace/answer/trace_profile.h"
#include "core/trace/answer/trace_timeline.h"
#include "tests/fuzz/damaged_trace.h"

namespace heapgauge::trace {
namespace {

// Cuts into the first segment and into the last.
TraceRange Within(const TraceFile& trace) {
  const uint64_t edge_ns = trace.end_ns() / 5;
  return {TraceMoment::At(edge_ns), TraceMoment::At(trace.end_ns() - edge_ns)};
}

void AskStats(const TraceFile& trace, const BlockGroups& groups, const Matcher& matcher) {
  StatsRequest request;
  request.take_blocks = [](size_t, std::vector<PlacedBlock> blocks) {
    (void)MapAddresses(blocks, 1000);
    (void)FindHolders(blocks, 0, UINT64_MAX);
  };
  (void)ReadStats(trace, groups, request);
  request.matcher = &matcher;
  (void)ReadStats(trace, groups, request);
}

void AskTimeline(const TraceFile& trace, const TraceRange& range) {
  for (const TimeAxis axis : {TimeAxis::kTime, TimeAxis::kBytes, TimeAxis::kEvents}) {
    TimelineRequest request;
    request.axis = axis;
    request.range = range;
    request.steps = 10;
    request.bands = 3;
    if (axis == TimeAxis::kTime) request.lanes = 2;
    (void)ReadTraceTimeline(trace, request);
  }
}

void AskProfiles(const TraceFile& trace, const TraceRange& range) {
  for (const TraceValue value :
       {TraceValue::kPeak, TraceValue::kGrowth, TraceValue::kTemporary, TraceValue::kLifetime,
        TraceValue::kLeft, TraceValue::kNeverFreed}) {
    ProfileRequest request;
    request.range = range;
    request.value = value;
    request.filter.mappings = std::nullopt;
    (void)ReadTraceProfile(trace, request);
    request.filter.least_size = 1;  // each block by itself
    (void)ReadTraceProfile(trace, request);
  }
}

void AskAll(const TraceFile& trace) {
  const auto stacks = trace.ReadStacks();
  if (!stacks) return;
  const TraceRange within = Within(trace);
  BlockFilter filter;
  filter.born = within;
  filter.mappings = std::nullopt;
  const auto matcher = Matcher::Compile(filter, trace, **stacks);
  const BlockGroups groups(**stacks, GroupBy::kFunction, trace.threads().size());
  if (matcher) AskStats(trace, groups, *matcher);
  (void)ReadLifetimes(trace, groups, {});
  for (const TraceRange& range : {TraceRange{}, within}) {
    AskTimeline(trace, range);
    AskProfiles(trace, range);
    MassifRequest massif;
    massif.range = range;
    (void)TraceMassif(trace, **stacks, massif);
  }
}

}  // namespace
}  // namespace heapgauge::trace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  heapgauge::trace::testing::WithDamagedTrace(data, size, heapgauge::trace::AskAll);
  return 0;
}
