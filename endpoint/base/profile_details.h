// What a profile of our own knows beyond profile.proto: how sure each figure is, on how many
// samples it rests, and the live blocks themselves, by which two profiles of a process can be
// compared block by block. Packed to be kept beside the proto.
//
// The bytes never leave this process. Pure functions.
#pragma once

#include <string>

#include "core/base/result.h"
#include "core/model/profile.h"

namespace heapgauge::endpoint {

// Of the rows that WritePprof() writes: those with a value. "" if there are no details.
Result<std::string> PackDetails(const Profile& profile);

// `profile` was read from the proto that was written of the same one. Does nothing for "".
Status UnpackDetails(const std::string& packed, Profile* profile);

}  // namespace heapgauge::endpoint
