// Reads the text of a massif.out file.
//
// It is hostile input: an error names the line. Memory is bounded by the size of the file: a tree
// of n levels needs n blanks before its deepest line, as all programs write it. More is accepted
// than ms_print accepts: a header that comes late, seconds, times with a fraction, a '#' within a
// name (only a line that begins with one is a comment). Single-threaded.
#pragma once

#include <string>

#include "core/base/byte_stream.h"
#include "core/base/result.h"
#include "core/formats/massif/massif_file.h"

namespace heapgauge {

// `name` is for messages.
Result<MassifFile> ParseMassif(ByteStream* stream, const std::string& name);

// By the first bytes of a file.
bool IsMassif(std::string_view start);

}  // namespace heapgauge
