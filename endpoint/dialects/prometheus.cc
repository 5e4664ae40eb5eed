#include "endpoint/dialects/prometheus.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/base/encode.h"
#include "core/base/text.h"
#include "core/fold/statistics.h"
#include "core/memory/accounting.h"
#include "endpoint/base/route.h"
#include "endpoint/dialects/memory.h"

namespace heapgauge::endpoint {
namespace {

// Values are UTF-8 with three escapes. Printable() has taken out control characters.
std::string LabelValue(std::string_view text) { return WithBackslashes(Printable(text), "\"\\"); }

std::string Number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  // Whole numbers as such, up to where a double stops counting by one.
  if (value == std::floor(value) && std::fabs(value) < 9e15) {
    return std::to_string(static_cast<int64_t>(value));
  }
  return fmt::format("{}", value);
}

}  // namespace

void Exposition::Add(const Metric& metric, const Labels& labels, double value) {
  auto family = std::find_if(families_.begin(), families_.end(),
                             [&](const Family& f) { return f.metric.name == metric.name; });
  if (family == families_.end()) family = families_.insert(family, {metric, ""});
  std::string& out = family->samples;
  out += metric.name;
  const char* separator = "{";
  for (const auto& [name, text] : labels) {
    out += fmt::format("{}{}=\"{}\"", separator, name, LabelValue(text));
    separator = ",";
  }
  out += labels.empty() ? " " : "} ";
  out += Number(value) + "\n";
}

std::string Exposition::Text() const {
  std::string text;
  for (const Family& family : families_) {
    const Metric& m = family.metric;
    text += fmt::format("# HELP {} {}\n# TYPE {} {}\n", m.name, m.help, m.name,
                        m.kind == MetricKind::kCounter ? "counter" : "gauge");
    text += family.samples;
  }
  return text;
}

// GET /metrics: all profiled processes that run, or the one that the path names, for Prometheus to
// scrape. Counters are estimates from samples; they fall to 0 at a reset, which Prometheus takes
// for a restart.

namespace {

using enum MetricKind;

constexpr Metric kRunning = {"heapgauge_process_running", kGauge,
                             "1 while the profiled process runs."};
constexpr Metric kStart = {"heapgauge_start_time_seconds", kGauge,
                           "When profiling began, in seconds since 1970."};
constexpr Metric kUnreadable = {"heapgauge_process_unreadable", kGauge,
                                "1 if the figures of the process could not be read."};
constexpr Metric kActive = {"heapgauge_sampling_active", kGauge,
                            "1 while allocations are sampled."};
constexpr Metric kInterval = {"heapgauge_sampling_interval_bytes", kGauge,
                              "Mean bytes between samples in force now."};
constexpr Metric kLiveBytes = {"heapgauge_live_bytes", kGauge,
                               "Bytes in live blocks, estimated from samples."};
constexpr Metric kLiveRange = {"heapgauge_live_bytes_range", kGauge,
                               "The 95 % range of heapgauge_live_bytes."};
constexpr Metric kLiveObjects = {"heapgauge_live_objects", kGauge,
                                 "Live blocks, estimated from samples."};
constexpr Metric kPeak = {"heapgauge_peak_live_bytes", kGauge, "Most live bytes so far."};
constexpr Metric kAllocatedBytes = {"heapgauge_allocated_bytes_total", kCounter,
                                    "Bytes allocated since the start or reset."};
constexpr Metric kAllocatedObjects = {"heapgauge_allocated_objects_total", kCounter,
                                      "Blocks allocated since the start or reset."};
constexpr Metric kFreedBytes = {"heapgauge_freed_bytes_total", kCounter,
                                "Bytes freed since the start or reset."};
constexpr Metric kFreedObjects = {"heapgauge_freed_objects_total", kCounter,
                                  "Blocks freed since the start or reset."};
constexpr Metric kResident = {"heapgauge_resident_bytes", kGauge,
                              "Resident memory of the process."};
constexpr Metric kPart = {"heapgauge_resident_part_bytes", kGauge,
                          "Resident memory by what it is; the parts add up to all of it."};
constexpr Metric kSwapped = {"heapgauge_swapped_bytes", kGauge, "Memory that was swapped out."};
constexpr Metric kLimit = {"heapgauge_cgroup_limit_bytes", kGauge,
                           "Memory limit of the cgroup; absent without one."};
constexpr Metric kUsage = {"heapgauge_cgroup_usage_bytes", kGauge, "Memory charged to the cgroup."};
constexpr Metric kAllocator = {"heapgauge_allocator_bytes", kGauge,
                               "What the allocator says about itself."};
constexpr Metric kSamples = {"heapgauge_samples_total", kCounter, "Samples taken."};
constexpr Metric kLiveSamples = {"heapgauge_live_samples", kGauge,
                                 "Samples whose blocks are live."};
constexpr Metric kLost = {"heapgauge_lost_samples_total", kCounter,
                          "Samples that could not be kept, by reason."};
constexpr Metric kLostBytes = {"heapgauge_lost_bytes_total", kCounter,
                               "What the lost samples stood for."};
constexpr Metric kCut = {"heapgauge_truncated_walks_total", kCounter,
                         "Stacks whose outermost frames are missing."};
constexpr Metric kAgent = {"heapgauge_agent_bytes", kGauge, "The profiler's own memory."};
constexpr Metric kRate = {"heapgauge_samples_per_second", kGauge,
                          "Samples taken per second lately."};

// Blocks that came from a parent process were not allocated here, so their end is no free of ours.
struct Inherited {
  double bytes = 0;
  double objects = 0;
};
Inherited InheritedOf(const Profile& profile) {
  Inherited sum;
  for (const SampledBlock& block : profile.blocks) {
    if (!block.inherited) continue;
    const SampleWeight weight = WeightOf(block.size, block.interval);
    sum.bytes += weight.bytes;
    sum.objects += weight.objects;
  }
  return sum;
}

// Over the last ten seconds of the timeline, if it has them.
double SamplesPerSecond(const std::vector<TimelinePoint>& timeline) {
  if (timeline.size() < 2) return -1;
  const TimelinePoint& last = timeline.back();
  auto first = timeline.end() - 2;
  while (first != timeline.begin() && last.time_ns - first->time_ns < 10'000'000'000u) --first;
  if (last.time_ns <= first->time_ns || last.samples < first->samples) return -1;
  return static_cast<double>(last.samples - first->samples) /
         (static_cast<double>(last.time_ns - first->time_ns) / 1e9);
}

class ProcessMetrics {
 public:
  ProcessMetrics(const RecordingFacts& facts, Exposition* out)
      : labels_{{"pid", std::to_string(facts.pid)}, {"name", NameOf(facts)}}, out_(out) {}

  void AddFacts(const RecordingFacts& r) {
    Add(kRunning, r.state == RecordingState::kLive ? 1 : 0);
    Add(kStart, static_cast<double>(r.start_unix_ns) / 1e9);
    Add(kActive, r.active ? 1 : 0);
    Add(kInterval, static_cast<double>(std::max(r.interval, r.interval_in_force)));
    Add(kSamples, static_cast<double>(r.samples));
    for (const auto& [reason, count] : r.lost) {
      Add(kLost, static_cast<double>(count), "reason", reason);
    }
    Add(kLostBytes, static_cast<double>(r.lost_bytes));
    Add(kCut, static_cast<double>(r.truncated_walks));
    Add(kAgent, static_cast<double>(r.file_bytes), "where", "gauge_file");
    Add(kAgent, static_cast<double>(r.private_bytes), "where", "private");
    if (r.has_peak) Add(kPeak, static_cast<double>(r.peak_bytes));
  }

  void AddProfile(const Profile& profile) {
    if (profile.sample_types.size() < kHeapTypes) return;
    const Estimate live = profile.Total(kInuseSpace);
    const double objects = profile.Total(kInuseObjects).value;
    const double allocated = profile.Total(kAllocSpace).value;
    const double allocated_objects = profile.Total(kAllocObjects).value;
    Add(kLiveBytes, Whole(live.value));
    const Interval range = Interval95(
        live.value > 0 ? live
                       : NothingSampled(static_cast<double>(profile.recording.interval_in_force)));
    Add(kLiveRange, Whole(range.low), "bound", "low");
    Add(kLiveRange, Whole(range.high), "bound", "high");
    Add(kLiveObjects, Whole(objects));
    // The header of a gauge file does not count them; who walks through it does.
    Add(kLiveSamples, static_cast<double>(profile.recording.live_samples));
    Add(kAllocatedBytes, Whole(allocated));
    Add(kAllocatedObjects, Whole(allocated_objects));
    const Inherited inherited = InheritedOf(profile);
    Add(kFreedBytes, Whole(allocated - (live.value - inherited.bytes)));
    Add(kFreedObjects, Whole(allocated_objects - (objects - inherited.objects)));
    if (const double rate = SamplesPerSecond(profile.timeline); rate >= 0) Add(kRate, rate);
  }

  void AddMemory(const MemorySurvey& survey, const std::vector<AllocatorAccount>& accounts) {
    const Accounting& a = survey.accounting;
    Add(kResident, static_cast<double>(a.resident));
    for (size_t i = 0; i < kParts; ++i) {
      const Part part = static_cast<Part>(i);
      Add(kPart, static_cast<double>(a.part(part)), "part", PartKey(part));
    }
    Add(kSwapped, static_cast<double>(survey.status.swapped));
    if (survey.cgroup) {
      Add(kUsage, static_cast<double>(survey.cgroup->usage));
      if (survey.cgroup->has_limit()) Add(kLimit, static_cast<double>(survey.cgroup->limit));
    }
    std::vector<std::string> met;
    for (const AllocatorAccount& account : accounts) {
      // The same allocator by the agent and by its engine is one series.
      if (std::find(met.begin(), met.end(), account.allocator) != met.end()) continue;
      met.push_back(account.allocator);
      for (const auto& [figure, bytes] : account.figures) {
        Exposition::Labels labels = labels_;
        labels.emplace_back("allocator", account.allocator);
        labels.emplace_back("figure", figure);
        out_->Add(kAllocator, labels, static_cast<double>(bytes));
      }
    }
  }

  void Add(const Metric& metric, double value) { out_->Add(metric, labels_, value); }
  void Add(const Metric& metric, double value, std::string_view label, std::string text) {
    Exposition::Labels labels = labels_;
    labels.emplace_back(label, std::move(text));
    out_->Add(metric, labels, value);
  }

 private:
  static double Whole(double value) { return std::floor(std::max(0.0, value)); }

  Exposition::Labels labels_;
  Exposition* out_;
};

void AddProcess(Process* process, const RecordingFacts& facts, Exposition* out) {
  ProcessMetrics metrics(facts, out);
  metrics.AddFacts(facts);
  bool readable = true;
  if (const auto profile = process->Take(Moment::kNow)) {
    metrics.AddProfile(**profile);
  } else {
    readable = false;
  }
  if (const auto survey = process->Memory()) {
    metrics.AddMemory(*survey, AccountsOf(process, *survey));
  } else {
    readable = false;
  }
  metrics.Add(kUnreadable, readable ? 0 : 1);
}

Reply Metrics(const Call& call) {
  if (auto refused = RefuseOthers(call, {})) return *std::move(refused);
  Exposition exposition;
  if (call.process != nullptr) {
    const auto facts = call.process->Facts();
    if (!facts) return FailureOf(facts.error());
    AddProcess(call.process.get(), *facts, &exposition);
  } else {
    std::set<uint32_t> met;  // a series that is there twice makes Prometheus refuse all of it
    for (const auto& process : call.processes.List()) {
      const auto facts = process->Facts();
      // Series of processes that have ended would stay for ever.
      if (!facts || facts->state != RecordingState::kLive) continue;
      if (!met.insert(facts->pid).second) continue;
      AddProcess(process.get(), *facts, &exposition);
    }
  }
  return Response{200,
                  {{"Content-Type", "text/plain; version=0.0.4; charset=utf-8"},
                   {"Cache-Control", "no-store"},
                   {"X-Content-Type-Options", "nosniff"}},
                  exposition.Text()};
}

constexpr Route kPrometheusRoutes[] = {
    {"metrics", "GET, HEAD", Metrics, false, "all figures for Prometheus"},
};

}  // namespace

std::span<const Route> PrometheusRoutes() { return kPrometheusRoutes; }

}  // namespace heapgauge::endpoint
