#include "endpoint/api/profile_source.h"

#include <utility>

#include "core/fold/measures.h"
#include "endpoint/api/process_source.h"

namespace heapgauge::endpoint::api {
namespace {

std::shared_ptr<const PendingProfile> Given(Profile profile) {
  auto pending = std::make_shared<PendingProfile>();
  pending->Give(ProfileSource::Finished(std::move(profile)));
  return pending;
}

}  // namespace

ProfileSource::ProfileSource(Profile profile, std::string name)
    : ProfileSource(Given(std::move(profile)), std::move(name)) {}

ProfileSource::ProfileSource(std::shared_ptr<const PendingProfile> pending, std::string name)
    : profile_(std::move(pending)), name_(std::move(name)) {}

PendingProfile::Pointer ProfileSource::Finished(Profile profile) {
  EstimateFromPeriod(&profile);
  // Where a file would rather have another figure first (DHAT's, Go's of allocations), no words ask
  // for what is live all the same: every view, and the choice of figures, begin with that.
  const Measures measures = MeasuresOf(profile);
  if (measures.main != kNone && measures.name == "live") profile.default_type = measures.main;
  return std::make_shared<const Profile>(std::move(profile));
}

Source::Facts ProfileSource::facts() {
  Facts facts;
  facts.id = name_;
  facts.title = name_;
  if (const auto profile = profile_->IfThere()) facts.pid = profile->recording.pid;
  return facts;
}

Result<std::shared_ptr<const Profile>> ProfileSource::Ask(const Filter& filter) {
  HG_ASSIGN(const trace::Question question, QuestionOf(filter));
  if (question.only_freed() && !filter.peak) {
    HG_ASSIGN(const auto profile, profile_->Wait());
    auto with_freed = std::make_shared<Profile>(*profile);
    HG_TRY(AddFreed(question.blocks, with_freed.get()));
    return with_freed;
  }
  if (question.any() || filter.peak) {
    return Fail(ErrorCode::kInvalidArgument,
                "this profile does not know moments, ranges and single blocks; record a trace: "
                "heapgauge run --trace -o FILE.hgt -- COMMAND");
  }
  return profile_->Wait();
}

Result<Timeline> ProfileSource::Over(const Stretch& stretch) {
  HG_ASSIGN(const TimeRange range, RangeSinceStart(stretch));
  HG_ASSIGN(const auto profile, profile_->Wait());
  return TimelineIfKnown(*profile, range);
}

}  // namespace heapgauge::endpoint::api
