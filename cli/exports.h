// What exports have in common: which figures their files can show, and compression by the name of
// the file.
#pragma once

#include <functional>
#include <string>

#include "cli/report_options.h"
#include "core/base/result.h"
#include "core/base/sinks.h"

namespace heapgauge::cli {

// Exports whose files have one set of figures, that of live blocks: what else an option asks for is
// refused, because the file could not show it.
//
//   if (const Status can = CheckLiveExport(options, {"heaptrack's files have ..."}); !can) ...
//
// Single-threaded.

struct LiveExport {
  const char* has;             // what its files have: "gperftools' format has ..."
  bool has_allocated = false;  // beside what is live, what was allocated, in a range as well
};
Status CheckLiveExport(const ReportOptions& options, const LiveExport& format);

// Output that is compressed if the name of its file says so: .zst, .gz.

// Calls `write` with a sink that packs, or not, what it passes on to `out`.
Status WritePacked(const std::string& name, const std::function<Status(TextSink*)>& write,
                   TextSink* out);

}  // namespace heapgauge::cli
