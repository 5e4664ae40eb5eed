// Reads pprof's format (profile.proto) into a Profile, in one pass over the stream.
//
// Samples name locations, locations functions, and all of them texts that come later in the file.
// So ids are numbered as they are met (pprof_messages.h) and resolved at the end (pprof_reader.cc);
// no message is kept. Time and memory
// are linear in the input: about 8 bytes for each frame that a stack does not share with others,
// and 50 for each sample.
//
// What pprof refuses is refused: texts, locations or functions that are missing, ids that are 0 or
// taken twice, samples with the wrong number of values, two profiles in one file. What pprof lets
// pass is kept and told in Profile::notes: mappings that are missing, texts that are not UTF-8.
// Fields that this program does not know are kept for the writer, but for those of lines, labels
// and value types.
//
// `estimates` stays empty: the file has final figures and does not tell how they were sampled.
#pragma once

#include <string>

#include "core/base/byte_stream.h"
#include "core/base/result.h"
#include "core/model/profile.h"

namespace heapgauge {

// `name` is for messages. The stream is not compressed any more.
Result<Profile> ReadPprof(ByteStream* stream, const std::string& name);

}  // namespace heapgauge
