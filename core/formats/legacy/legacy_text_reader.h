// Reads the other text profiles of the family: contention on locks (gperftools, Go's mutex and
// block), threads (threadz), and Go's counts (goroutine, threadcreate). Their stacks and mapping
// sections are those of heap profiles, so every report works on them.
//
// Single-threaded.
#pragma once

#include <string>

#include "core/base/byte_stream.h"
#include "core/formats/text/line_reader.h"
#include "core/formats/text/text_profile.h"
#include "core/model/profile.h"

namespace heapgauge {

Result<Profile> ReadLegacyText(ByteStream* stream, const std::string& name,
                               const TextReadOptions& options);
// The same from the middle of another format; the next line is the header.
Result<Profile> ReadLegacyText(LineReader* lines, const TextReadOptions& options);

}  // namespace heapgauge
