// Reads collapsed stacks, the input of flame graph tools: "outermost;...;innermost 123". Names may
// have blanks in them; the last word is the value, which may have a fraction or a sign. Lines that
// begin with # are comments; one of the form "# type: inuse_space/bytes" names what is counted,
// which is samples otherwise.
//
// There are no addresses and no modules: every distinct name is a location of its own.
// Single-threaded.
#pragma once

#include <string>

#include "core/base/byte_stream.h"
#include "core/formats/text/text_options.h"
#include "core/model/profile.h"

namespace heapgauge {

Result<Profile> ReadCollapsed(ByteStream* stream, const std::string& name,
                              const TextReadOptions& options);

}  // namespace heapgauge
