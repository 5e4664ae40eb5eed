// Arithmetic on whole profiles: several become one, one is scaled to match another.
//
// Merging follows pprof, so that its reports come out the same: rows with equal stacks and labels
// are added up, rows that are zero in every type are left out; rows, locations, functions and
// modules are numbered as they are met; the first module of the first profile, which is the
// program, stays first. Locations are the same if module, address relative to it, and frames are:
// the same code loaded elsewhere counts as the same.
//
// Sample types must agree. Where profiles have the same types in another order, or some have more
// than others (Go's four, C++'s two), the common ones are taken by name, and a note says so; where
// nothing is common it is an error. Pure; linear in the rows of all profiles.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/profile.h"

namespace heapgauge {

// Takes the profiles apart. Notes are added to the result's.
Result<Profile> MergeProfiles(std::vector<Profile> profiles);

}  // namespace heapgauge
