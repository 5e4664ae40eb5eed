// Options that the reports on one profile have in common.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "cli/symbol_options.h"
#include "core/base/result.h"
#include "core/trace/answer/trace_question.h"
#include "core/trace/file/trace_file.h"

namespace heapgauge::cli {

// Options that ask about a moment, a range or certain blocks of an exact trace: --at, --from, --to,
// --value, --min-size and the rest. The one place where they are described and read, for all
// commands that know traces.
//
//   AddTraceOptions(sub, &options->trace);
//   ...
//   HG_ASSIGN(const trace::Question question, QuestionOf(options.trace, options.kind));
//   HG_ASSIGN(const trace::ProfileRequest request, RequestOf(question, *trace));
//
// Single-threaded.

using TraceOptions = trace::QuestionWords;
using trace::QuestionOf;

// Which options a command has.
enum TraceOptionSet : uint32_t {
  kMomentOptions = 1,  // --at, --from, --to
  kRangeOptions = 2,   // --from, --to
  kValueOptions = 4,   // --value, --blocks
  kFilterOptions = 8,  // those that choose blocks
  kReportOptions = kMomentOptions | kValueOptions | kFilterOptions,
};
void AddTraceOptions(Command sub, TraceOptions* options, uint32_t which = kReportOptions);

// The first option that chooses blocks, as it was written: "--min-size 1M"; "" none was.
std::string FirstFilterOption(const TraceOptions& options);

// What is asked, about blocks of the kind that --kind names: which peak is meant depends on it.
Result<trace::Question> QuestionOf(const TraceOptions& options, const std::string& kind);

struct ReportOptions {
  std::vector<std::string> sources;
  std::string pick;
  std::string focus;
  std::string ignore;
  std::string sort;  // "": what the profile is about
  std::string inherited = "all";
  std::string kind = "heap";
  std::string output;
  std::string granularity;  // "": the report's own
  std::string names = "short";
  std::string colour = "auto";
  int rows = -1;            // the report's own default; 0: all
  std::string type;         // sample type; "": the profile's own
  std::string pattern;      // of peek and list
  std::string source_path;  // where list looks for sources
  std::string trim_path;
  bool json = false;
  bool csv = false;
  bool text = false;       // for the terminal, whatever the default
  bool only_sure = false;  // of changes
  bool cumulative = false;
  bool peak = false;
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
  TraceOptions trace;

  // As many as were asked for, or as the report has by itself.
  size_t RowsOr(size_t usual) const {
    constexpr size_t kAll = 1'000'000'000;
    return rows < 0 ? usual : rows == 0 ? kAll : static_cast<size_t>(rows);
  }
};

// Runs `top`; `ctl peak` uses it too.
int Top(const ReportOptions& options);

}  // namespace heapgauge::cli
