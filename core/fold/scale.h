// Multiplies the values of profiles.
//
// Pure functions of a profile that the caller owns.
#pragma once

#include <vector>

#include "core/base/result.h"
#include "core/model/profile.h"

namespace heapgauge {

// Multiplies all values and rounds them. Rows of which nothing remains are left out.
void ScaleProfile(double ratio, Profile* profile);
// One ratio for each sample type. As with pprof, what is multiplied by 1 does not save a row.
void ScaleProfile(const std::vector<double>& ratios, Profile* profile);
// Scales so that the total of each sample type is that of `base`.
Status NormalizeTo(const Profile& base, Profile* profile);

}  // namespace heapgauge
