// Envoy's admin interface, as far as it is about the heap: /heap_dump, /peak_heap_dump,
// /allocprofiler, /heapprofiler. /memory is in memory.cc.
//
// Profiles are compressed proto as with Envoy, but with names. A window of /allocprofiler needs no
// state in the process: it is the difference of two profiles.

#include "endpoint/dialects/envoy.h"
#include "core/base/text.h"
#include "core/fold/merge.h"
#include "core/fold/scale.h"
#include "endpoint/base/kept_profiles.h"
#include "endpoint/base/route.h"

namespace heapgauge::endpoint {

Result<Profile> AllocatedBetween(const Profile& start, const Profile& end) {
  Profile later = end;
  // What was counted before a reset is gone from the later one: it is the window.
  const bool was_reset = start.recording.reset_ns != end.recording.reset_ns;
  if (!was_reset) {
    Profile earlier = start;
    ScaleProfile(-1, &earlier);
    std::vector<Profile> both;
    both.push_back(std::move(later));
    both.push_back(std::move(earlier));
    HG_ASSIGN(later, MergeProfiles(std::move(both)));
  }
  const size_t objects = later.FindType("alloc_objects");
  const size_t space = later.FindType("alloc_space");
  const size_t types = later.sample_types.size();
  if (objects >= types || space >= types) {
    return Fail(ErrorCode::kUnsupported, "the profile does not say what was allocated");
  }
  // Live figures say nothing about a window: those of the two ends are unrelated.
  Profile window = later;
  window.sample_types = {later.sample_types[objects], later.sample_types[space]};
  window.default_type = 1;
  window.values.clear();
  window.estimates.clear();
  window.blocks.clear();
  for (RowId row = 0; row < later.rows.size(); ++row) {
    window.values.push_back(std::max<int64_t>(0, later.value(row, objects)));
    window.values.push_back(std::max<int64_t>(0, later.value(row, space)));
  }
  window.time_ns = start.time_ns != 0 ? start.time_ns : end.time_ns;
  const int64_t lasted = static_cast<int64_t>(end.recording.duration_ns) -
                         static_cast<int64_t>(start.recording.duration_ns);
  window.duration_ns = std::max<int64_t>(0, lasted);
  return window;
}

namespace {

constexpr std::string_view kAllocations = "allocprofiler";
constexpr std::string_view kHeapWindow = "heapprofiler";

Reply Proto(const Call& call, Wanted wanted, const std::string& file_name) {
  if (auto refused = RefuseOthers(call, {"engine"})) return *std::move(refused);
  const auto profile = TakeNamed(call, wanted);
  if (!profile) return FailureOf(profile.error());
  auto download = ProtoDownload(**profile, file_name);
  return download ? *std::move(download) : FailureOf(download.error());
}

Reply HeapDump(const Call& call) { return Proto(call, Wanted::kHeap, "heap.pb.gz"); }
Reply PeakHeapDump(const Call& call) { return Proto(call, Wanted::kPeak, "peak_heap.pb.gz"); }

// The only parameter is enable=y or enable=n. Nothing if it is something else.
std::optional<bool> EnableOf(const Call& call) {
  if (call.parameters.size() != 1) return {};
  const auto value = call.Parameter("enable");
  if (value == "y") return true;
  if (value == "n") return false;
  return {};
}

Reply AllocProfiler(const Call& call) {
  const auto enable = EnableOf(call);
  if (!enable) return ErrorText(400, "?enable=<y|n>");
  const uint32_t pid = call.process->pid();
  if (*enable && call.kept.IsOpen(pid, kAllocations)) {
    return ErrorText(400, "the allocation profiler was started already");
  }
  if (!*enable && !call.kept.IsOpen(pid, kAllocations)) {
    return ErrorText(400, "the allocation profiler was not started; begin with ?enable=y");
  }
  auto now = call.process->TakeWithNames(Moment::kNow);
  if (!now) return FailureOf(now.error());
  if (*enable) {
    if (!(*now)->recording.active) {
      return ErrorText(400, "sampling is switched off; POST /prof/enable switches it on");
    }
    // It may be kept for long: without what a difference does not need.
    auto start = std::make_shared<Profile>(**now);
    start->blocks = {};
    start->estimates = {};
    start->timeline = {};
    if (call.kept.OpenWindow(pid, kAllocations, std::move(start))) return PlainText(200, "OK\n");
    return ErrorText(400, "the allocation profiler was started already");
  }
  const auto start = call.kept.CloseWindow(pid, kAllocations);
  if (start == nullptr) return ErrorText(400, "the allocation profiler was not started");
  const auto window = AllocatedBetween(*start, **now);
  if (!window) return FailureOf(window.error());
  auto download = ProtoDownload(*window, "allocations.pb.gz");
  return download ? *std::move(download) : FailureOf(download.error());
}

Response StartHeapProfiler(const Call& call) {
  const uint32_t pid = call.process->pid();
  auto before = call.process->Facts();
  if (!before) return FailureOf(before.error());
  auto start = std::make_shared<Profile>();
  start->recording = *std::move(before);
  if (!call.kept.OpenWindow(pid, kHeapWindow, std::move(start))) {
    return PlainText(400, "Fail to start heap profiler: already started");
  }
  if (const auto switched = call.process->SetActive(true); !switched) {
    call.kept.CloseWindow(pid, kHeapWindow);
    return PlainText(
        500, "Fail to start the heap profiler: " + Printable(switched.error().message) + "\n");
  }
  return PlainText(200, "Starting heap profiler");
}

Response StopHeapProfiler(const Call& call) {
  const uint32_t pid = call.process->pid();
  const auto start = call.kept.CloseWindow(pid, kHeapWindow);
  if (start == nullptr) return PlainText(400, "Fail to stop heap profiler: not started");
  std::string fetch;
  if (const auto profile = call.process->TakeWithNames(Moment::kNow)) {
    if (const auto kept = call.kept.Keep(pid, "heap", *profile)) {
      fetch = " Fetch it at " + PrefixOf(call) + "/hotspots/heap?view=" + (*kept)->id +
              "&display_type=proto";
    }
  }
  const auto path = call.process->Dump();
  // Whoever sampled before goes on sampling.
  if (!start->recording.active) (void)call.process->SetActive(false);
  if (!path) {
    return PlainText(500, "Heap profiler stopped, but its data could not be written: " +
                              Printable(path.error().message) + "." + fetch + "\n");
  }
  return PlainText(
      200, "Heap profiler stopped and data written to " + Printable(*path) + "." + fetch + "\n");
}

Reply HeapProfiler(const Call& call) {
  const auto enable = EnableOf(call);
  if (!enable) return ErrorText(400, "?enable=<y|n>");
  return *enable ? StartHeapProfiler(call) : StopHeapProfiler(call);
}

constexpr Route kEnvoyRoutes[] = {
    {"heap_dump", "GET, HEAD", HeapDump, true, "live heap, compressed proto (Envoy)"},
    {"peak_heap_dump", "GET, HEAD", PeakHeapDump, true,
     "the heap when it was largest, compressed proto (Envoy)"},
    {"allocprofiler", "POST, PUT", AllocProfiler, true,
     "POST ?enable=y begins, ?enable=n gives what was allocated since (Envoy)"},
    {"heapprofiler", "POST, PUT", HeapProfiler, true,
     "POST ?enable=y begins, ?enable=n dumps to a file (Envoy)"},
    {"memory", "GET, HEAD", Memory, true, "where the memory is, by every allocator's own account"},
    {"memory/tcmalloc", "GET, HEAD", MemoryTcmalloc},
};

}  // namespace

std::span<const Route> EnvoyRoutes() { return kEnvoyRoutes; }

}  // namespace heapgauge::endpoint
