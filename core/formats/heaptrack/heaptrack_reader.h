// Reads heaptrack's data files, interpreted and raw, into a profile: allocated and live at the end
// (what heaptrack calls leaked), live at the peak, temporary. The figures are those that
// heaptrack_print has. docs/formats/heaptrack.md says what becomes of each part of the file.
//
// Streams: memory is that of the profile, and that of the parser. Single-threaded.
#pragma once

#include <string>

#include "core/base/byte_stream.h"
#include "core/base/result.h"
#include "core/model/profile.h"

namespace heapgauge {

// Sample types of such a profile: the four of HeapType, then objects and space at the peak, and
// those that were temporary.
Result<Profile> ReadHeaptrack(ByteStream* stream, const std::string& name);

}  // namespace heapgauge
