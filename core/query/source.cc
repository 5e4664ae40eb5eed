#include "core/query/source.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/function_name.h"
#include "core/base/regex.h"
#include "core/base/text.h"
#include "core/fold/frames.h"
#include "core/report/labels.h"
#include "core/trace/answer/trace_moment.h"

namespace heapgauge::query {

Result<std::shared_ptr<const trace::Segment>> SegmentParts::Read(size_t index, uint32_t parts) {
  for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
    if (entry->index != index || (entry->parts & parts) != parts) continue;
    entries_.splice(entries_.begin(), entries_, entry);
    return entries_.front().segment;
  }
  // Segments are large: the memory of one that nobody looks at any more is used again.
  Entry entry;
  if (entries_.size() >= kKept) {
    entry = std::move(entries_.back());
    entries_.pop_back();
  }
  if (entry.segment == nullptr || entry.segment.use_count() > 1) {
    entry.segment = std::make_shared<trace::Segment>();
  }
  entry.index = index;
  entry.parts = parts;
  ++reads_;
  parts_read_ |= parts;
  HG_TRY(trace_.ReadSegment(index, parts, entry.segment.get()));
  entries_.push_front(std::move(entry));
  return entries_.front().segment;
}

constexpr std::string_view kUnknown = "(unknown stack)";
constexpr size_t kRemembered = 16;

NamesInStacks::NamesInStacks(const Profile& profile, uint32_t first)
    : profile_(profile), first_(first) {
  frame_names_ = FrameNames(profile_, Granularity::kFunctions, Names::kShort);
  allocation_frames_ = CountAllocationFrames(profile_);
  depth_.resize(profile_.nodes.size());
  for (NodeId id = 0; id < profile_.nodes.size(); ++id) {
    const Node& node = profile_.nodes[id];
    depth_[id] = (node.parent == kNone ? 0 : depth_[node.parent]) +
                 profile_.locations[node.location].frame_count;
  }
}

std::string_view NamesInStacks::function(uint32_t stack) const {
  const FramePlace place = FlatFrame(profile_, stack - first_, allocation_frames_);
  if (place.node == kNone) return kUnknown;
  const Location& location = profile_.locations[profile_.nodes[place.node].location];
  if (place.k >= location.frame_count) return kUnknown;
  return frame_names_[location.first_frame + place.k];
}

std::string_view NamesInStacks::module(uint32_t stack) const {
  const FramePlace place = FlatFrame(profile_, stack - first_, allocation_frames_);
  if (place.node == kNone) return {};
  const ModuleId module = profile_.locations[profile_.nodes[place.node].location].module;
  return module == kNone ? std::string_view() : profile_.modules[module].path;
}

uint32_t NamesInStacks::depth(uint32_t stack) const {
  const NodeId leaf = row(stack).leaf;
  return leaf == kNone ? 0 : depth_[leaf];
}

std::string NamesInStacks::Collapsed(uint32_t stack) const {
  const Row& r = row(stack);
  if (r.leaf == kNone) return std::string(kUnknown);
  std::vector<NodeId> path;
  for (NodeId node = r.leaf; node != kNone; node = profile_.nodes[node].parent) {
    path.push_back(node);
  }
  std::string text = r.truncated ? "(truncated)" : "";
  for (size_t i = path.size(); i-- > 0;) {
    const Location& location = profile_.locations[profile_.nodes[path[i]].location];
    for (uint32_t k = location.frame_count; k-- > 0;) {
      if (!text.empty()) text += ';';
      const size_t from = text.size();
      text += frame_names_[location.first_frame + k];
      std::replace(text.begin() + static_cast<std::ptrdiff_t>(from), text.end(), ';', ':');
    }
  }
  return text;
}

Result<std::shared_ptr<const std::vector<bool>>> NamesInStacks::Matching(std::string_view pattern) {
  if (const auto known = matching_.find(pattern); known != matching_.end()) return known->second;
  HG_ASSIGN(const Regex regex, Regex::Compile(std::string(pattern)));
  const auto all = [&](const auto& items, const auto& matches) {
    std::vector<bool> bits(items.size());
    for (size_t i = 0; i < items.size(); ++i) bits[i] = matches(items[i]);
    return bits;
  };
  const std::vector<bool> modules =
      all(profile_.modules, [&](const Module& m) { return regex.Matches(m.path); });
  const std::vector<bool> functions = all(profile_.functions, [&](const Function& f) {
    return MatchesFunction(regex, f.name) || regex.Matches(f.file);
  });
  const std::vector<bool> locations = all(profile_.locations, [&](const Location& l) {
    if (l.module != kNone && modules[l.module]) return true;
    for (uint32_t k = 0; k < l.frame_count; ++k) {
      const FunctionId function = profile_.frames[l.first_frame + k].function;
      if (function != kNone && functions[function]) return true;
    }
    return false;
  });
  auto nodes = std::make_shared<std::vector<bool>>(profile_.nodes.size());
  for (NodeId id = 0; id < profile_.nodes.size(); ++id) {
    const Node& node = profile_.nodes[id];
    (*nodes)[id] = locations[node.location] || (node.parent != kNone && (*nodes)[node.parent]);
  }
  if (matching_.size() >= kRemembered) matching_.clear();
  matching_.emplace(pattern, nodes);
  return nodes;
}

void StackUse::Add(const trace::StackSums& sums) {
  if (sums.is_mapping) {
    mapped_bytes += static_cast<int64_t>(sums.allocated_bytes - sums.freed_bytes);
  } else {
    trace::StackTotal::Add(sums);
  }
}

std::unique_ptr<QuerySource> QuerySource::OfTrace(std::shared_ptr<const trace::TraceFile> trace,
                                                  Namer namer) {
  std::unique_ptr<QuerySource> source(new QuerySource);
  source->segments_ = std::make_unique<SegmentParts>(*trace);
  source->threads_ = trace->threads();
  source->trace_ = std::move(trace);
  source->namer_ = std::move(namer);
  return source;
}

std::unique_ptr<QuerySource> QuerySource::OfProfile(Profile profile) {
  std::unique_ptr<QuerySource> source(new QuerySource);
  std::vector<trace::Thread>& threads = source->threads_;
  for (const SampledBlock& block : profile.blocks) {
    if (block.thread != 0) threads.push_back({block.thread, "", block.birth_ns});
  }
  // One of each, with its first block.
  std::sort(threads.begin(), threads.end(), [](const trace::Thread& a, const trace::Thread& b) {
    return std::pair(a.id, a.first_ns) < std::pair(b.id, b.first_ns);
  });
  threads.erase(std::unique(threads.begin(), threads.end(),
                            [](const auto& a, const auto& b) { return a.id == b.id; }),
                threads.end());
  source->profile_end_ns_ = profile.recording.duration_ns;
  for (const TimelinePoint& point : profile.timeline) {
    source->profile_end_ns_ = std::max(source->profile_end_ns_, point.time_ns);
  }
  source->profile_ = std::make_unique<Profile>(std::move(profile));
  source->names_ = std::make_unique<NamesInStacks>(*source->profile_, 1);
  return source;
}

const RecordingFacts& QuerySource::recording() const {
  return trace_ != nullptr ? trace_->facts().recording : profile_->recording;
}

uint64_t QuerySource::end_ns() const {
  if (trace_ != nullptr) return trace_->end_ns();
  return profile_end_ns_;
}

Result<const Profile*> QuerySource::StacksOnly() {
  if (profile_ == nullptr) {
    Report("reading stacks", 0, 0, "");
    HG_ASSIGN(const auto stacks, trace_->ReadStacks());
    auto profile = std::make_unique<Profile>(stacks->profile);
    profile->sample_types = HeapSampleTypes();  // so that it is known to be about memory
    profile->rows.reserve(stacks->stacks.size());
    for (const auto& stack : stacks->stacks) {
      Row row;
      row.leaf = stack.leaf;
      row.labels = stack.labels;
      row.truncated = stack.truncated;
      profile->rows.push_back(row);
    }
    profile->values.resize(profile->rows.size() * profile->sample_types.size());
    profile_ = std::move(profile);
  }
  return profile_.get();
}

Result<NamesInStacks*> QuerySource::Names() {
  if (names_ == nullptr) {
    HG_TRY(StacksOnly());
    if (namer_) namer_(profile_.get());
    names_ = std::make_unique<NamesInStacks>(*profile_, 0);
  }
  return names_.get();
}

Result<const std::vector<StackUse>*> QuerySource::Totals() {
  if (has_totals_) return &totals_;
  std::vector<StackUse> totals(trace_->stack_count());
  std::vector<trace::StackSums> sums;
  const size_t count = trace_->segments().size();
  for (size_t i = 0; i < count; ++i) {
    HG_TRY(CheckStop());
    Report("adding up stacks", i, count, "segments");
    HG_TRY(trace_->ReadSums(i, &sums));
    for (const trace::StackSums& s : sums) {
      if (s.stack < totals.size()) totals[s.stack].Add(s);
    }
  }
  totals_ = std::move(totals);
  has_totals_ = true;
  return &totals_;
}

uint32_t QuerySource::ThreadIndex(uint32_t id) const {
  const auto at = std::lower_bound(threads_.begin(), threads_.end(), id,
                                   [](const trace::Thread& t, uint32_t i) { return t.id < i; });
  return at == threads_.end() || at->id != id ? trace::kNoIndex
                                              : static_cast<uint32_t>(at - threads_.begin());
}

Result<uint64_t> QuerySource::Moment(const std::string& text) const {
  if (trace_ != nullptr) {
    HG_ASSIGN(const trace::TraceMoment moment, trace::ParseMoment(*trace_, text));
    return moment.time_ns;
  }
  if (text == "start") return 0;
  if (text == "end") return end_ns();
  if (text == "peak") {
    if (recording().is_peak) return end_ns();
    if (recording().has_peak) return recording().peak_ns;
    return Fail(ErrorCode::kInvalidArgument, "moment('peak'): the profile does not tell its peak");
  }
  return trace::ParseDuration(text);
}

Result<ExactMoment> QuerySource::Peak() {
  if (peak_) return *peak_;
  HG_ASSIGN(const trace::TraceMoment peak, trace::PeakMoment(*trace_, false));
  HG_ASSIGN(peak_, ExactMoment::Find(*trace_, peak));
  return *peak_;
}

void QuerySource::SetDeadline(double seconds) {
  using Clock = std::chrono::steady_clock;
  constexpr double kMost = 1e9;  // what the clock can count has an end
  timed_out_ = false;
  deadline_.reset();
  if (!(seconds > 0 && seconds < kMost)) return;
  deadline_ = Clock::now() +
              std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

bool QuerySource::IsOver() {
  if (stop_.load(std::memory_order_relaxed)) return true;
  if (!deadline_ || std::chrono::steady_clock::now() < *deadline_) return false;
  timed_out_ = true;
  return true;
}

Status QuerySource::CheckStop() {
  if (!IsOver()) return {};
  return Fail(ErrorCode::kUnavailable, "interrupted");
}

}  // namespace heapgauge::query
