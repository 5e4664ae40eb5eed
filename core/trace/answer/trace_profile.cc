#include "core/trace/answer/trace_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "core/base/text.h"
#include "core/model/profile.h"
#include "core/trace/answer/stack_figures.h"
#include "core/trace/answer/trace_moment.h"

namespace heapgauge::trace {

Result<Profile> ReadTraceProfile(const TraceFile& trace, const ProfileRequest& request,
                                 ProgressSink* progress, const NameStacks& name) {
  HG_ASSIGN(std::shared_ptr<const TraceFile::Stacks> stacks, trace.ReadStacks());
  if (name && request.filter.asks_about_stacks()) {
    auto named = std::make_shared<TraceFile::Stacks>(*stacks);
    name(&named->profile);
    stacks = std::move(named);
  }
  HG_ASSIGN(const StackAnswer answer,
            FigureStacks(trace, *stacks, request, SumsIndex(), nullptr, progress));
  return ProfileOf(trace, *stacks, request, answer);
}

namespace {

constexpr size_t kMostPoints = 1000;

// What the types of a value are called: "peak_objects", "peak_space". "": it is one of the four.
const char* TypePrefix(TraceValue value) {
  switch (value) {
    case TraceValue::kLive:
    case TraceValue::kAllocated:
      return "";
    case TraceValue::kPeak:
      return "peak";
    case TraceValue::kFreed:
      return "freed";
    case TraceValue::kGrowth:
      return "growth";
    case TraceValue::kTemporary:
      return "temporary";
    case TraceValue::kLifetime:
      return "lifetime";
    case TraceValue::kLeft:
      return "left";
    case TraceValue::kNeverFreed:
      return "never_freed";
  }
  return "";
}

void SetTypes(const ProfileRequest& request, Profile* profile) {
  profile->sample_types = HeapSampleTypes();
  const std::string prefix = TypePrefix(request.value);
  if (prefix.empty()) {
    const bool allocated = request.value == TraceValue::kAllocated;
    profile->default_type = request.blocks ? (allocated ? kAllocObjects : kInuseObjects)
                                           : (allocated ? kAllocSpace : kInuseSpace);
    return;
  }
  profile->sample_types.push_back({prefix + "_objects", "count"});
  profile->sample_types.push_back(
      {prefix + "_space", request.value == TraceValue::kLifetime ? "byte-seconds" : "bytes"});
  profile->default_type = request.blocks ? kHeapTypes : kHeapTypes + 1;
}

int64_t Whole(double value) {
  constexpr double kMost = 9.2e18;
  return std::llround(std::clamp(value, -kMost, kMost));
}

// Copies what the rows need of the trie, in the same order.
void CopyNodes(const Profile& from, Profile* to) {
  std::vector<NodeId> nodes(from.nodes.size(), kNone);
  std::vector<LocationId> locations(from.locations.size(), kNone);
  std::vector<bool> needed(from.nodes.size());
  for (const Row& row : to->rows) {
    for (NodeId node = row.leaf; node != kNone && !needed[node]; node = from.nodes[node].parent) {
      needed[node] = true;
    }
  }
  for (NodeId node = 0; node < from.nodes.size(); ++node) {
    if (!needed[node]) continue;
    nodes[node] = static_cast<NodeId>(to->nodes.size());
    const Node& old = from.nodes[node];
    if (old.location != kNone) locations[old.location] = 0;
    to->nodes.push_back({old.parent == kNone ? kNone : nodes[old.parent], old.location});
  }
  for (LocationId location = 0; location < from.locations.size(); ++location) {
    if (locations[location] == kNone) continue;
    locations[location] = static_cast<LocationId>(to->locations.size());
    Location copy = from.locations[location];
    const uint32_t first = copy.first_frame;
    copy.first_frame = static_cast<uint32_t>(to->frames.size());
    to->frames.insert(to->frames.end(), from.frames.begin() + first,
                      from.frames.begin() + first + copy.frame_count);
    to->locations.push_back(copy);
  }
  for (Node& node : to->nodes) {
    if (node.location != kNone) node.location = locations[node.location];
  }
  for (Row& row : to->rows) {
    if (row.leaf != kNone) row.leaf = nodes[row.leaf];
  }
  to->distinct_nodes = from.distinct_nodes;
}

std::vector<TimelinePoint> TimelineOf(const TraceFile& trace) {
  std::vector<TimelinePoint> points;
  const auto& segments = trace.segments();
  const auto& memory = trace.memory();
  const size_t step = segments.size() / kMostPoints + 1;
  size_t next = 0;
  for (size_t i = step - 1; i < segments.size(); i += step) {
    TimelinePoint point;
    point.time_ns = segments[i].end_ns;
    point.live_bytes = segments[i].live_bytes_after;
    point.live_objects = segments[i].live_blocks_after;
    point.samples = segments[i].first_block + segments[i].births;
    while (next < memory.size() && memory[next].time_ns <= point.time_ns) ++next;
    if (next > 0) point.resident_bytes = memory[next - 1].resident_bytes;
    points.push_back(point);
  }
  return points;
}

// Of all stacks: a filter by functions does not find those that it would have found farther out.
uint64_t CutStacks(const TraceFile::Stacks& stacks) {
  return static_cast<uint64_t>(
      std::count_if(stacks.stacks.begin(), stacks.stacks.end(),
                    [](const TraceFile::Stacks::Stack& stack) { return stack.truncated; }));
}

}  // namespace

Result<Profile> ProfileOf(const TraceFile& trace, const TraceFile::Stacks& stacks,
                          const ProfileRequest& request, const StackAnswer& answer) {
  const Profile& all = stacks.profile;
  const Facts& facts = trace.facts();
  Profile profile;
  profile.recording = facts.recording;
  profile.modules = all.modules;
  profile.functions = all.functions;
  profile.strings = all.strings;
  profile.label_sets = all.label_sets;
  profile.labels = all.labels;
  profile.comments = all.comments;
  SetTypes(request, &profile);
  const size_t types = profile.sample_types.size();
  uint64_t live_blocks = 0;
  for (size_t i = 0; i < answer.stacks.size(); ++i) {
    const StackFigure& f = answer.stacks[i];
    if (!f.any()) continue;
    Row row;
    if (i < stacks.stacks.size()) {
      row = {stacks.stacks[i].leaf, stacks.stacks[i].labels, stacks.stacks[i].truncated, 0, 0};
    }
    profile.rows.push_back(row);
    live_blocks += f.live_blocks;
    for (const uint64_t figure :
         {f.allocated_blocks, f.allocated_bytes, f.live_blocks, f.live_bytes}) {
      profile.values.push_back(static_cast<int64_t>(figure));
    }
    if (types > kHeapTypes) {
      profile.values.push_back(f.value_blocks);
      profile.values.push_back(
          request.value == TraceValue::kLifetime ? Whole(f.lifetime_byte_ns / 1e9) : f.value_bytes);
    }
    if (request.value != TraceValue::kLifetime) continue;
    // In a short run a stack has less than a whole byte-second.
    for (size_t type = 0; type < types; ++type) {
      Estimate& certain = profile.estimates.emplace_back();
      certain.value = type == kHeapTypes + 1
                          ? f.lifetime_byte_ns / 1e9
                          : static_cast<double>(profile.values[profile.estimates.size() - 1]);
      certain.floor = certain.value;
    }
  }
  CopyNodes(all, &profile);
  profile.period_type = {"space", "bytes"};
  profile.period = 1;
  profile.timeline = TimelineOf(trace);
  profile.notes = all.notes;
  for (std::string& note : NotesOn(request.filter, trace)) profile.notes.push_back(std::move(note));

  RecordingFacts& r = profile.recording;
  r.exact = true;
  r.interval = r.interval_in_force = 0;
  r.samples = trace.blocks();
  r.live_samples = live_blocks;
  r.truncated_walks = CutStacks(stacks);
  if (facts.lost_events != 0) r.lost.emplace_back("no room for events", facts.lost_events);
  r.moment = request.MomentText();
  if (request.at_peak || request.value == TraceValue::kPeak) {
    r.moment += (request.at_peak ? ", at " : "; the peak is at ") + FormatMoment(answer.peak_ns);
  }
  r.filter = request.filter.Text();
  if (!request.IsEndOfAll()) {
    profile.comments.push_back("Figures: " + r.moment + (r.filter.empty() ? "" : "; " + r.filter));
  }
  r.is_peak = request.at_peak;
  r.duration_ns = std::max(r.duration_ns, trace.end_ns());
  HG_ASSIGN(const PeakPlace peak, PeakOf(trace, request.filter.mappings));
  r.has_peak = peak.bytes != 0;
  r.peak_ns = r.has_peak ? peak.time_ns : 0;
  r.peak_bytes = peak.bytes;
  // An imported trace does not know when it was.
  if (r.start_unix_ns != 0) {
    profile.time_ns = static_cast<int64_t>(r.start_unix_ns + answer.to_ns);
  }
  profile.duration_ns =
      static_cast<int64_t>(answer.to_ns - std::min(request.range.from.time_ns, answer.to_ns));
  PutProgramFirst(&profile);
  return profile;
}

TraceAnswers::TraceAnswers(std::shared_ptr<const TraceFile> trace, NameStacks name, uint64_t budget)
    : trace_(std::move(trace)), name_(std::move(name)), budget_(budget) {}

TraceAnswers::TraceAnswers(std::shared_ptr<const TraceFile> trace, TraceAnswers* before)
    : TraceAnswers(std::move(trace), before->name_, before->budget_) {
  // Whoever is at it may be looking up names for long, and what there is of sums is not there yet.
  const std::unique_lock lock(before->mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return;
  const auto& was = before->trace_->segments();
  const auto& is = trace_->segments();
  // It may be another trace by now that took the place of the first.
  if (was.empty() || (was.size() <= is.size() && was.back().offset == is[was.size() - 1].offset &&
                      was.back().first_event == is[was.size() - 1].first_event)) {
    index_ = before->index_;
  }
}

Status TraceAnswers::Prepare(ProgressSink* progress) {
  const std::lock_guard lock(mutex_);
  if (stacks_ != nullptr) return {};
  HG_ASSIGN(index_, SumsIndex::Make(*trace_, budget_, progress, index_));
  HG_ASSIGN(std::shared_ptr<const TraceFile::Stacks> stacks, trace_->ReadStacks());
  if (name_) {
    auto named = std::make_shared<TraceFile::Stacks>(*stacks);
    name_(&named->profile);
    stacks = std::move(named);
  }
  stacks_ = std::move(stacks);
  return {};
}

Result<Profile> TraceAnswers::Ask(const ProfileRequest& request, ProgressSink* progress) {
  HG_TRY(Prepare(progress));
  HG_ASSIGN(const StackAnswer answer,
            FigureStacks(*trace_, *stacks_, request, index_, &segments_, progress));
  return ProfileOf(*trace_, *stacks_, request, answer);
}

Result<std::shared_ptr<const TraceFile::Stacks>> TraceAnswers::Stacks(ProgressSink* progress) {
  HG_TRY(Prepare(progress));
  return stacks_;
}

}  // namespace heapgauge::trace
