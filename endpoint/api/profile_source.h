// A profile that was read once, of any format, as a source.
#ifndef HEAPGAUGE_ENDPOINT_API_PROFILE_SOURCE_H_
#define HEAPGAUGE_ENDPOINT_API_PROFILE_SOURCE_H_

#include <memory>
#include <string>

#include "endpoint/api/source.h"

namespace heapgauge::endpoint::api {

class ProfileSource final : public Source {
 public:
  // With names. Says how sure its figures are where the file tells enough for it.
  ProfileSource(Profile profile, std::string name);

  Facts facts() override;
  Result<std::shared_ptr<const Profile>> Ask(const Filter& filter) override;
  Result<Timeline> Over(const Stretch& stretch) override;

 private:
  std::shared_ptr<const Profile> profile_;
  const std::string name_;
};

}  // namespace heapgauge::endpoint::api

#endif  // HEAPGAUGE_ENDPOINT_API_PROFILE_SOURCE_H_
