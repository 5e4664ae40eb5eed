// Names inside a gauge file: functions, lines and inlined calls for its addresses, so that a saved
// file can be read on a machine that has none of the binaries.
//
// They are kept in segments of their own behind the others (wire::SegmentKind::kNames) as one
// compressed stream; docs/formats/gauge.md gives its bytes. Only the addresses that could be named
// are in it. The others stay open, and whoever reads the file may still find names for them.
//
// Pure functions. The stream is treated as hostile: every index is checked, and the memory it may
// ask for is bounded.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/file.h"
#include "core/base/result.h"
#include "core/gauge/gauge_layout.h"
#include "core/model/profile.h"

namespace heapgauge {

// How many code addresses of a profile have names.
struct NameCounts {
  uint64_t named = 0;
  uint64_t placed = 0;  // of these, with a source line
  uint64_t open = 0;    // without a name
};
NameCounts CountNames(const Profile& profile);

// The names of a symbolized profile, as the stream.
Result<std::string> EncodeNames(const Profile& profile);

// A whole gauge file with this stream as its names, in place of any that it has.
Result<std::string> WithNames(std::string gauge, std::string_view names);

// Gives the locations of a profile that was read from the same file their frames. A file without
// names is no error and changes nothing.
Status ReadNames(const ByteSource& source, const GaugeLayout& layout, const std::string& name,
                 Profile* profile);

// Gives the locations that the stream names their frames. Locations are known by address, module
// (the same numbers as when it was made) and `exact`.
Status AttachNames(std::string_view stream, const std::string& name, Profile* profile);

}  // namespace heapgauge
