// Values of profiles multiplied, and sample types of several profiles made to agree.
//
// Pure functions of profiles that the caller owns.
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

// Makes the sample types of several profiles agree before they are merged, as newer pprof does:
// only those that all have are kept, in the order of the first profile, and values are brought to
// the finest unit that occurs (bytes rather than kB).
//
// Changes are told in the notes of the first profile. An error if nothing is common.
Status AlignSampleTypes(std::vector<Profile>* profiles);

}  // namespace heapgauge
