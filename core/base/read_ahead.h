// Reads a stream on a thread of its own, a little ahead of whoever uses it. Worth it where making
// the bytes costs as much as using them: decompressing a profile while it is decoded.
//
// Four pieces of 256 KiB are in flight at most. The thread starts with the second piece, so small
// inputs do not pay for it. The stream given away must not block for ever (a regular file does
// not): the destructor waits for the read that is under way.
#pragma once

#include <memory>

#include "core/base/byte_stream.h"

namespace heapgauge {

std::unique_ptr<ByteStream> ReadAhead(std::unique_ptr<ByteStream> stream);

}  // namespace heapgauge
