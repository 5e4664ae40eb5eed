// SOURCE on the command line: a gauge file, the number of a process, or a directory of gauge files.
#ifndef HEAPGAUGE_CLI_SOURCE_H_
#define HEAPGAUGE_CLI_SOURCE_H_

#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace heapgauge::cli {

// The gauge file that `source` means. A directory must hold exactly one, unless `pick` says which:
// "newest" or "oldest".
Result<std::string> ResolveSource(const std::string& source, const std::string& pick);

// Anything under that name: a file, a device, a directory.
bool Exists(const std::string& path);

// "server.hgt@12.3s", "server.hgt@2s..5s", "server.hg@peak": a source, and a moment or range of it.
struct SourceAt {
  std::string source;
  std::string moment;
};
// Of a file that is there. What exists under the whole name is that, whatever it looks like.
std::optional<SourceAt> SplitMoment(const std::string& source);

// What a report is made of. A process all of whose calls are recorded, by its number, its gauge
// file or the directory of that, means the trace of it, up to now; anything else stays what it is.
// "PID@MOMENT" too. Fails if such a process has a trace that is not written any more, or that
// cannot be found: its gauge file would say that it has no memory.
Result<std::string> MeanTrace(const std::string& source, const std::string& pick = "");
// Fails if a moment or range of a file is named, and says what to do instead.
Status CheckWhole(const std::string& source, const std::string& instead);
// The same as MeanTrace for commands that look at the events of whole traces: fails if a moment of
// a file is named, and says what to do instead.
Result<std::string> MeanWholeTrace(const std::string& source, const std::string& pick = "",
                                   const char* instead = "choose by --from and --to");
Status MeanTraces(const std::string& pick, std::vector<std::string>* sources);

}  // namespace heapgauge::cli

#endif  // HEAPGAUGE_CLI_SOURCE_H_
