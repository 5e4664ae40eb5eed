// The options of all commands that show names (SymbolOptions), those of the reports on one profile
// (ReportOptions), and what exports make of them.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/base/sinks.h"
#include "core/model/profile.h"
#include "core/recording/view.h"
#include "core/symbolize/symbolizer.h"

namespace heapgauge::cli {

class Command;

// Options of every command that shows names: where debug files are, and what not to use.
struct SymbolOptions {
  std::vector<std::string> debug_paths;
  std::vector<std::string> binary_dirs;  // where modules themselves may be
  std::string program;                   // the file of the first module, "" as the profile says
  bool no_debuginfod = false;
  bool no_cache = false;
};

void AddSymbolOptions(Command sub, SymbolOptions* options);

// Names all locations of the profile that have no name yet and tells what stood in the way. If the
// process that it came from still runs, files are also looked for through it.
SymbolizeReport NameLocations(const SymbolOptions& options, Profile* profile,
                              ProgressSink* progress = nullptr);

// Options that the reports on one profile have in common.
struct ReportOptions : View {
  std::vector<std::string> sources;
  std::string pick;
  std::string output;
  std::string colour = "auto";
  int rows = -1;            // the report's own default; 0: all
  std::string pattern;      // of peek and list
  std::string source_path;  // where list looks for sources
  std::string trim_path;
  bool json = false;
  bool csv = false;
  bool text = false;       // for the terminal, whatever the default
  bool only_sure = false;  // of changes
  bool cumulative = false;
  bool callers = false;
  bool compress = false;
  double fold = 1;     // percent
  size_t depth = 0;    // 0 no limit
  std::string watch;   // seconds between refreshes; "": no watch
  bool quiet = false;  // no progress line
  // To standard error in place of standard output, beside a program that has it for itself; nothing
  // comes of it if that cannot be written.
  bool beside = false;
  SymbolOptions symbols;

  // As many as were asked for, or as the report has by itself.
  size_t RowsOr(size_t usual) const {
    constexpr size_t kAll = 1'000'000'000;
    return rows < 0 ? usual : rows == 0 ? kAll : static_cast<size_t>(rows);
  }
};

// Runs `top`; `ctl peak` uses it too.
int Top(const ReportOptions& options);

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

// Calls `write` with a sink that passes on to `out` what it gets: compressed if the name of the
// file says so (.zst, .gz).
Status WritePacked(const std::string& name, const std::function<Status(TextSink*)>& write,
                   TextSink* out);

}  // namespace heapgauge::cli
