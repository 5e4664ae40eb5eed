// A profile that is read once, of any format, as a source. It may still be under way: questions
// wait for it.
#pragma once

#include <memory>
#include <string>

#include "endpoint/api/pending_profile.h"
#include "endpoint/api/source.h"

namespace heapgauge::endpoint::api {

class ProfileSource final : public Source {
 public:
  // With names. Says how sure its figures are where the file tells enough for it.
  ProfileSource(Profile profile, std::string name);
  // The same of one that somebody reads meanwhile, made by Finished().
  ProfileSource(std::shared_ptr<const PendingProfile> pending, std::string name);

  // A profile that was just read, as sources have it.
  static PendingProfile::Pointer Finished(Profile profile);

  Facts facts() override;
  Result<std::shared_ptr<const Profile>> Ask(const Filter& filter) override;
  Result<Timeline> Over(const Stretch& stretch) override;

 private:
  const std::shared_ptr<const PendingProfile> profile_;
  const std::string name_;
};

}  // namespace heapgauge::endpoint::api
