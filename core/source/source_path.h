// Paths of source files as debug information has them, made fit for looking at and for searching.
//
// Pure functions.
#pragma once

#include <string>
#include <string_view>

namespace heapgauge {

// `path` without what the machine that built the program has in front: one of the prefixes of
// `trim` (separated by colons), or else all up to the last directory of one of `search`.
std::string_view TrimSourcePath(std::string_view path, std::string_view trim,
                                std::string_view search);

// "a/./b/../c" becomes "a/c"; "" becomes ".".
std::string CleanPath(std::string_view path);
// The last part: "c" of "/a/b/c/"; "." of "", "/" of "/".
std::string_view LastPart(std::string_view path);

// Whether a path is one that a source file would have. Who shows the files that a profile names to
// others goes by it: a profile may name any file, /etc/shadow as well.
//
// Pure function.

// By the end of its name; headers without one (<vector>, <QString>) by a directory `include`.
// REQUIRES: a clean path, without "..".
bool IsSourceName(std::string_view path);

}  // namespace heapgauge
