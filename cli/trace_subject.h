// SOURCE of the commands that look at single blocks of a trace: opened, with the names of its
// stacks, and with the filter that the options ask for.
//
// Single-threaded.
#ifndef HEAPGAUGE_CLI_TRACE_SUBJECT_H_
#define HEAPGAUGE_CLI_TRACE_SUBJECT_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "cli/report_options.h"
#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/report/views/live_samples.h"
#include "core/trace/answer/trace_filter.h"
#include "core/trace/file/trace_file.h"

namespace heapgauge::cli {

struct SelectedTrace {
  std::shared_ptr<const trace::TraceFile> trace;
  trace::TraceFile::Stacks stacks;  // with names
  std::vector<std::string> notes;   // what stood in the way of names, or is damaged
  trace::BlockFilter filter;
  std::optional<trace::Matcher> matcher;  // none: all heap blocks
};

// Options that all of them have: names, output, and which blocks.
void AddBlockReportOptions(Command sub, ReportOptions* options);

// Has a report made of `source`: of its blocks if it is a trace (--from and --to mean those that
// were allocated between), else of its samples. `options` get the source that is meant.
int ReportBlocks(const std::string& source, ReportOptions* options,
                 const std::function<int(SelectedTrace, ProgressSink*)>& of_trace,
                 const std::function<int()>& of_samples);

// For a SOURCE that is no trace: loads it, counts its live samples by `granularity` and has the
// report made.
int ReportSamples(const ReportOptions& options, Granularity granularity,
                  const std::function<int(const SampledSubject&, const LiveSamplesOptions&)>& make);

}  // namespace heapgauge::cli

#endif  // HEAPGAUGE_CLI_TRACE_SUBJECT_H_
