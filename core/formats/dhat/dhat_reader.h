// Reads DHAT files into a profile: what each stack allocated in all, held at the peak of the whole
// program and at its end, how long its blocks lived, how much of them was read and written. Modes
// "copy" and "ad-hoc" have figures of their own. docs/formats/dhat.md has the table.
//
// Streams: memory is that of the profile and of its stacks. Single-threaded.
#pragma once

#include <string>

#include "core/base/byte_stream.h"
#include "core/base/result.h"
#include "core/model/profile.h"

namespace heapgauge {

Result<Profile> ReadDhat(ByteStream* stream, const std::string& name);

}  // namespace heapgauge
