// A profile that is kept of a process (endpoint/base/kept_profiles.h) as a source: every view can
// be about it, and whoever opens the same address sees the same. The server keeps the last few of
// each process as long as it runs.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "endpoint/api/profile_source.h"
#include "endpoint/api/sources.h"
#include "endpoint/base/kept_profiles.h"

namespace heapgauge::endpoint::api {

class SnapshotSource final : public Source {
 public:
  explicit SnapshotSource(std::shared_ptr<const KeptProfile> kept) : kept_(std::move(kept)) {}

  Facts facts() override;
  Result<std::shared_ptr<const Profile>> Ask(const Filter& filter) override;
  Result<Timeline> Over(const Stretch& stretch) override;

 private:
  // It is unpacked when somebody first asks.
  Result<ProfileSource*> Unpacked();

  const std::shared_ptr<const KeptProfile> kept_;
  std::mutex mutex_;
  std::unique_ptr<ProfileSource> unpacked_;
};

// "server 4242 at 12:30:05 UTC".
Source::Facts FactsOf(const KeptProfile& kept);

// "snapshot-" and the id that it is kept by.
bool IsSnapshotId(std::string_view id);
// Fails in words for people if it is not kept any more.
Result<std::shared_ptr<Opened>> OpenedSnapshot(const Call& call, std::string_view id);

}  // namespace heapgauge::endpoint::api
