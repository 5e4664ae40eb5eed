// Reads profiles that carry the names of their addresses, as jeprof and pprof write with --raw and
// servers with a /pprof/symbol page of their own:
//
//   --- symbol
//   binary=/usr/bin/program
//   0x401126 Outer--Inlined
//   ---
//   --- heap
//   heap profile: ...                 or jemalloc's heap_v2/..., a contention or a CPU profile
//
// Names are for addresses inside of the call, one below those on the stack, but some writers name
// the address on the stack: both are looked for. A name with "--" in it is a chain of inlined
// calls, the outermost first.
//
// Streams but for the names. Single-threaded.
#pragma once

#include <string>

#include "core/base/byte_stream.h"
#include "core/formats/text/text_profile.h"
#include "core/model/profile.h"

namespace heapgauge {

Result<Profile> ReadSymbolized(ByteStream* stream, const std::string& name,
                               const TextReadOptions& options);

}  // namespace heapgauge
