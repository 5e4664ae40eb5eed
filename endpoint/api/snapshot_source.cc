#include "endpoint/api/snapshot_source.h"

#include <fmt/format.h>

#include <ctime>
#include <utility>

#include "endpoint/base/route.h"

namespace heapgauge::endpoint::api {
namespace {

constexpr std::string_view kPrefix = "snapshot-";

std::string UtcClock(int64_t unix_ns) {
  const std::time_t seconds = unix_ns / 1'000'000'000;
  std::tm utc{};
  char text[32] = "";
  if (gmtime_r(&seconds, &utc) == nullptr || strftime(text, sizeof text, "%H:%M:%S", &utc) == 0) {
    return "?";
  }
  return text;
}

}  // namespace

Source::Facts FactsOf(const KeptProfile& kept) {
  Source::Facts facts;
  facts.id = std::string(kPrefix) + kept.id;
  const std::string name = kept.recording.name();
  facts.title = fmt::format("{}{}{} at {} UTC", name, name.empty() ? "" : " ", kept.pid,
                            UtcClock(kept.unix_ns));
  if (kept.type != "heap") facts.title += ", " + kept.type;
  facts.pid = kept.pid;
  facts.taken_unix_ns = kept.unix_ns;
  return facts;
}

Source::Facts SnapshotSource::facts() { return FactsOf(*kept_); }

Result<ProfileSource*> SnapshotSource::Unpacked() {
  const std::lock_guard lock(mutex_);
  if (unpacked_ == nullptr) {
    HG_ASSIGN(Profile profile, kept_->Read());
    unpacked_ = std::make_unique<ProfileSource>(std::move(profile), "");
  }
  return unpacked_.get();
}

Result<std::shared_ptr<const Profile>> SnapshotSource::Ask(const Filter& filter) {
  HG_ASSIGN(ProfileSource* const profile, Unpacked());
  return profile->Ask(filter);
}

Result<Timeline> SnapshotSource::Over(const Stretch& stretch) {
  HG_ASSIGN(ProfileSource* const profile, Unpacked());
  return profile->Over(stretch);
}

bool IsSnapshotId(std::string_view id) { return id.starts_with(kPrefix); }

Result<std::shared_ptr<Opened>> OpenedSnapshot(const Call& call, std::string_view id) {
  const auto kept = call.kept.Find(id.substr(kPrefix.size()));
  if (kept != nullptr) return call.sources.OfSnapshot(kept);
  return Fail(ErrorCode::kNotFound,
              fmt::format("this snapshot is not kept any more: the last {} of each process are, as "
                          "long as the server runs; take a new one",
                          call.limits.kept_profiles));
}

}  // namespace heapgauge::endpoint::api
