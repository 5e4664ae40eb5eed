#include "core/query/source.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.h"
#include "core/trace/answer/trace_moment.h"
#include "core/trace/answer/trace_peak.h"

namespace heapgauge::query {

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
