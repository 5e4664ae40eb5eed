// Collapsed stacks, read and written: one line for each stack.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/base/byte_stream.h"
#include "core/base/result.h"
#include "core/base/sinks.h"
#include "core/formats/text/text_profile.h"
#include "core/model/profile.h"

namespace heapgauge {

// Reads collapsed stacks, the input of flame graph tools: "outermost;...;innermost 123". Names may
// have blanks in them; the last word is the value, which may have a fraction or a sign. Lines that
// begin with # are comments; one of the form "# type: inuse_space/bytes" names what is counted,
// which is samples otherwise.
//
// There are no addresses and no modules: every distinct name is a location of its own.
// Single-threaded.
Result<Profile> ReadCollapsed(ByteStream* stream, const std::string& name,
                              const TextReadOptions& options);

// Writes a profile as collapsed stacks: one line for each stack, frames from the outermost to the
// innermost joined by ';', then a space and a value. Flame graph scripts and speedscope read it.
//
// Stacks are gathered in a trie of names and written while walking it: memory is a few dozen bytes
// for each distinct caller and callee, however long the lines are. They come sorted frame by frame,
// equal stacks are merged, so that outputs compare.
//
// `type` is an index into the profile's sample types; `selected` says which rows, empty for all.
// `frame_names` has a name for each of the profile's frames. Neighbours with the same name are one
// frame if `join` says so. What is not positive cannot be drawn and is left out.
Status WriteCollapsed(const Profile& profile, size_t type, const std::vector<bool>& selected,
                      const std::vector<std::string>& frame_names, bool join, TextSink* out);

}  // namespace heapgauge
