#include "endpoint/api/profile_source.h"

#include <utility>

#include "core/analysis/measures.h"
#include "endpoint/api/process_source.h"

namespace heapgauge::endpoint::api {
namespace {

std::shared_ptr<const Profile> WithEstimates(Profile profile) {
  EstimateFromPeriod(&profile);
  return std::make_shared<const Profile>(std::move(profile));
}

}  // namespace

ProfileSource::ProfileSource(Profile profile, std::string name)
    : profile_(WithEstimates(std::move(profile))), name_(std::move(name)) {}

Source::Facts ProfileSource::facts() {
  Facts facts;
  facts.id = name_;
  facts.title = name_;
  facts.pid = profile_->recording.pid;
  return facts;
}

Result<std::shared_ptr<const Profile>> ProfileSource::Ask(const Filter& filter) {
  HG_ASSIGN(const trace::Question question, QuestionOf(filter.words));
  if (question.any() || filter.peak) {
    return Fail(ErrorCode::kInvalidArgument,
                "this profile does not know moments, ranges and single blocks; record a trace: "
                "heapgauge run --trace -o FILE.hgt -- COMMAND");
  }
  return profile_;
}

Result<Timeline> ProfileSource::Over(const Stretch& stretch) {
  HG_ASSIGN(const TimeRange range, RangeSinceStart(stretch));
  return TimelineIfKnown(*profile_, range);
}

}  // namespace heapgauge::endpoint::api
