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
#pragma once

#include <string>

#include "cli/command_line.h"
#include "core/base/result.h"
#include "core/trace/answer/question_words.h"
#include "core/trace/answer/trace_question.h"
#include "core/trace/file/trace_file.h"

namespace heapgauge::cli {

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

}  // namespace heapgauge::cli
