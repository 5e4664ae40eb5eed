// Shows a file with a program of the user's: a browser, a viewer of pictures.
#pragma once

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
