// Exports whose files have one set of figures, that of live blocks: what else an option asks for is
// refused, because the file could not show it.
//
//   if (const Status can = CheckLiveExport(options, {"heaptrack's files have ..."}); !can) ...
//
// Single-threaded.
#pragma once

#include "cli/report_options.h"
#include "core/base/result.h"

namespace heapgauge::cli {

struct LiveExport {
  const char* has;             // what its files have: "gperftools' format has ..."
  bool has_allocated = false;  // beside what is live, what was allocated, in a range as well
};
Status CheckLiveExport(const ReportOptions& options, const LiveExport& format);

}  // namespace heapgauge::cli
