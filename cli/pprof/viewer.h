// Shows a file with a program of the user's: a browser, a viewer of pictures.
#ifndef HEAPGAUGE_CLI_PPROF_VIEWER_H_
#define HEAPGAUGE_CLI_PPROF_VIEWER_H_

#include <string>

#include "core/base/result.h"

namespace heapgauge::cli {

// `viewer` is a program with its arguments, or "browser": $BROWSER, then the usual ones. Waits
// until it ends unless `in_background`. The file is a temporary one and goes when this program
// ends; if no viewer can be started it stays, and the error names it.
Status ShowFile(const std::string& path, const std::string& viewer, bool in_background);

// Opens an address in a browser, and does not wait for it.
Status ShowUrl(const std::string& url);

}  // namespace heapgauge::cli

#endif  // HEAPGAUGE_CLI_PPROF_VIEWER_H_
