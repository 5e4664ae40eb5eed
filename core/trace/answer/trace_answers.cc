#include "core/trace/answer/trace_answers.h"

#include <utility>

#include "core/trace/answer/stack_figures.h"
#include "core/trace/answer/stack_profile.h"

namespace heapgauge::trace {

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
