// The parts of Go's dialect (net/http/pprof): the text of debug=1, and the difference of two
// profiles.
//
// Pure functions.
#pragma once

#include <string>

#include "core/base/result.h"
#include "core/model/profile.h"

namespace heapgauge::endpoint {

// The text that `debug=1` gives: Go's header with twice the rate, each record followed by its
// frames in lines with '#', and figures of the whole heap at the end. pprof and the perl tools read
// it.
Result<std::string> GoText(const Profile& named);

// What came between two profiles of one process, freed blocks taken off; without names. After a
// reset in between: since the reset.
Result<Profile> Between(const Profile& before, const Profile& after);

}  // namespace heapgauge::endpoint
