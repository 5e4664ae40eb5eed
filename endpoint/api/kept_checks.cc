#include "endpoint/api/kept_checks.h"

#include <algorithm>
#include <utility>

#include "core/os/process.h"

namespace heapgauge::endpoint::api {

LeaksSubject JudgedCheck::Subject(const leaks::Changes* changes) const {
  LeaksSubject subject;
  subject.check = &check;
  subject.losses = &losses;
  subject.suppressions = suppressions;
  subject.changes = changes;
  subject.suspects = &suspects;
  return subject;
}

KeptChecks::Pointer KeptChecks::Judge(leaks::Check check, uint32_t number) const {
  auto judged = std::make_shared<JudgedCheck>();
  judged->check = std::move(check);
  judged->number = number;
  if (checker_ != nullptr) judged->suppressions = &checker_->suppressions();
  for (const std::string& note : judged->check.known.profile.notes) {
    std::vector<std::string>& notes = judged->check.notes;
    if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
  }
  judged->losses =
      leaks::MakeLossRecords(judged->check, {leaks::Resolution::kHigh, judged->suppressions});
  judged->suspects = leaks::FindSuspects(judged->check);
  if (!judged->looked() && judged->check.known.blocks.size() > kMostBlocks) {
    judged->check.known.blocks = {};
    judged->losses.record_of = {};
  }
  return judged;
}

KeptChecks::Pointer KeptChecks::Last() {
  const std::lock_guard lock(mutex_);
  return looked_ != nullptr ? looked_ : of_file_;
}

Result<KeptChecks::Pointer> KeptChecks::Get() {
  {
    const std::lock_guard lock(mutex_);
    if (looked_ != nullptr) return looked_;
  }
  return OfFile();
}

Result<KeptChecks::Pointer> KeptChecks::OfFile() {
  const std::lock_guard reading(reading_);
  const bool live = source_.facts().live;
  {
    const std::lock_guard lock(mutex_);
    const bool fresh =
        !live ? of_file_ns_ == 1 : of_file_ns_ > 1 && MonotonicNow() < of_file_ns_ + kSharedNs;
    if (of_file_ != nullptr && fresh) return of_file_;
  }
  HG_ASSIGN(leaks::Check check, source_.LeaksOfFile());
  Pointer judged = Judge(std::move(check), 0);
  const std::lock_guard lock(mutex_);
  of_file_ = judged;
  of_file_ns_ = live ? MonotonicNow() : 1;  // the last word of a program that has ended
  return judged;
}

Result<KeptChecks::Pointer> KeptChecks::Look() {
  if (checker_ == nullptr) {
    return Fail(ErrorCode::kUnavailable,
                "this host does not look at memory: heapgauge leaks PID does, beside the program");
  }
  const std::shared_ptr<Process> process = source_.process();
  if (process == nullptr) {
    return Fail(ErrorCode::kInvalidArgument, "only a running process has memory to look at");
  }
  if (!source_.facts().live) {
    return Fail(ErrorCode::kUnavailable,
                "the process does not run any more, so its memory is gone; what its file knows is "
                "shown");
  }
  const std::unique_lock looking(looking_, std::try_to_lock);
  if (!looking.owns_lock()) {
    return Fail(ErrorCode::kUnavailable, "a check of this process is under way; try again soon");
  }
  HG_ASSIGN(leaks::Check check, checker_->Look(process.get()));
  process->AddNames(&check.known.profile);
  uint32_t number = 1;
  {
    const std::lock_guard lock(mutex_);
    if (looked_ != nullptr) number = looked_->number + 1;
  }
  Pointer judged = Judge(std::move(check), number);
  auto remembered =
      std::make_shared<const leaks::EarlierCheck>(leaks::Remember(judged->check, judged->losses));
  const std::lock_guard lock(mutex_);
  looked_ = judged;
  earlier_.push_front({number, std::move(remembered)});
  if (earlier_.size() > kMostEarlier + 1) earlier_.pop_back();
  return judged;
}

std::vector<KeptChecks::Earlier> KeptChecks::EarlierOnes() {
  const std::lock_guard lock(mutex_);
  if (earlier_.empty()) return {};
  return {earlier_.begin() + 1, earlier_.end()};
}

}  // namespace heapgauge::endpoint::api
