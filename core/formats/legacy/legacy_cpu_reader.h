// Reads CPU profiles in gperftools' binary format: words of 4 or 8 bytes in either order, then the
// lines of /proc/PID/maps.
//
//   0, 3, 0, period in microseconds, 0
//   count, depth, depth addresses        for each stack; the innermost address is exact
//   0, 1, 0                              the end
//
// Single-threaded; the stacks are in memory while they are read.
#pragma once

#include <string>

#include "core/base/byte_stream.h"
#include "core/formats/text/line_reader.h"
#include "core/formats/text/text_profile.h"
#include "core/model/profile.h"

namespace heapgauge {

Result<Profile> ReadLegacyCpu(ByteStream* stream, const std::string& name,
                              const TextReadOptions& options);
// The same from the middle of another format; the words begin behind the current line.
Result<Profile> ReadLegacyCpu(LineReader* lines, const TextReadOptions& options);

}  // namespace heapgauge
