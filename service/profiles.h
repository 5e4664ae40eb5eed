// Profiles of this process for the program itself: as bytes, as files, kept in memory, subtracted.
//
// Each is read from the process's own gauge file, like by anybody else. Names are resolved in this
// process, from the files that it runs, for the formats that carry names. Threads: any number.
#pragma once

#include <string>

#include "core/base/result.h"
#include "core/model/profile.h"

namespace heapgauge::service {

enum class Format { kGauge = 0, kProto = 1, kText = 2 };  // as in heapgauge.h

// The profile of this moment, in that format.
Result<std::string> DumpNow(Format format);
// The profile of this moment, to keep.
Result<Profile> TakeNow();
// What is in `after` and not in `before`.
Result<std::string> Difference(const Profile& before, const Profile& after, Format format);

}  // namespace heapgauge::service
