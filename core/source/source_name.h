// Whether a path is one that a source file would have. Who shows the files that a profile names to
// others goes by it: a profile may name any file, /etc/shadow as well.
//
// Pure function.
#pragma once

#include <string_view>

namespace heapgauge {

// By the end of its name; headers without one (<vector>, <QString>) by a directory `include`.
// REQUIRES: a clean path, without "..".
bool IsSourceName(std::string_view path);

}  // namespace heapgauge
