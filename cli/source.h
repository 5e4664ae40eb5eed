// SOURCE on the command line: a gauge file, the number of a process, or a directory of gauge files.
#ifndef HEAPGAUGE_CLI_SOURCE_H_
#define HEAPGAUGE_CLI_SOURCE_H_

#include <string>

#include "core/base/result.h"

namespace heapgauge::cli {

// The gauge file that `source` means. A directory must hold exactly one, unless `pick` says which:
// "newest" or "oldest".
Result<std::string> ResolveSource(const std::string& source, const std::string& pick);

}  // namespace heapgauge::cli

#endif  // HEAPGAUGE_CLI_SOURCE_H_
