// SOURCE on the command line: a gauge file, the number of a process, or a directory of gauge files.
#ifndef HEAPGAUGE_CLI_SOURCE_H_
#define HEAPGAUGE_CLI_SOURCE_H_

#include <string>
#include <vector>

#include "core/base/result.h"

namespace heapgauge::cli {

// The gauge file that `source` means. A directory must hold exactly one, unless `pick` says which:
// "newest" or "oldest".
Result<std::string> ResolveSource(const std::string& source, const std::string& pick);

// What a report is made of. A process all of whose calls are recorded, by its number or its gauge
// file, means the trace of it, up to now; anything else stays what it is. "PID@MOMENT" too.
std::string MeanTrace(const std::string& source);
void MeanTraces(std::vector<std::string>* sources);

}  // namespace heapgauge::cli

#endif  // HEAPGAUGE_CLI_SOURCE_H_
