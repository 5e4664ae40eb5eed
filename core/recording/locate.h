// Where a recording is that somebody names: a file, the number of a process, a directory of gauge
// files; with a moment or range of it behind an '@'.
//
// Reads directories and headers of gauge files. Any thread.
#pragma once

#include <string>

#include "core/base/result.h"

namespace heapgauge {

// The file that `spec` means. A directory must hold exactly one gauge file, unless `pick` says
// which: "newest" or "oldest".
Result<std::string> LocateFile(const std::string& spec, const std::string& pick = "");

// The same words for the trace, if every call of the process that `spec` means goes into one;
// anything else stays what it is. "PID@MOMENT" too. Fails if that trace is not written any more, or
// cannot be found: the gauge file would say that the process has no memory.
Result<std::string> MeantTrace(const std::string& spec, const std::string& pick = "");

struct NamedPlace {
  std::string spec;    // as MeantTrace has it
  std::string path;    // "-": standard input
  std::string moment;  // "12.3s", "2s..5s"; "" the whole
};
// A moment is one of a file that is there. What exists under the whole name is that file.
Result<NamedPlace> Locate(const std::string& spec, const std::string& pick = "");

// Fails if a moment or range of a file is named, and says what to do instead.
Status CheckWhole(const std::string& spec, const std::string& instead);
// Both.
Result<std::string> MeantWhole(const std::string& spec, const std::string& pick,
                               const std::string& instead);

// Anything under that name: a file, a device, a directory.
bool Exists(const std::string& path);
// "server.hgt@12.3s", "server.hg@peak".
bool NamesMoment(const std::string& spec);

}  // namespace heapgauge
