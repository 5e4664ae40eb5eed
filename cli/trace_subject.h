// SOURCE of the commands that want the events of a trace rather than a profile: opened, with the
// names of its stacks, and with the filter that the options ask for.
//
// Single-threaded.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "cli/report_options.h"
#include "core/base/result.h"
#include "core/base/sinks.h"
#include "core/recording/recording.h"
#include "core/report/views/lifetimes.h"
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

// The one SOURCE, if all of it is meant: --at, --focus and all the others that choose a moment, a
// range or blocks make a profile of a trace. What cannot be opened is left to Load, which says why.
std::optional<Recording> OpenWhole(const ReportOptions& options);

struct OpenedTrace {
  std::shared_ptr<const trace::TraceFile> file;
  trace::TraceFile::Stacks stacks;  // with names
};
// Has a whole trace written in another form, to where -o says, compressed if that name asks for it.
int DeliverTrace(const Recording& recording, const ReportOptions& options,
                 const std::function<Status(const OpenedTrace&, ProgressSink*, TextSink*)>& write);

// Options that all of them have: names, output, and which blocks.
void AddBlockReportOptions(Command sub, ReportOptions* options);

// Has a report made of `source`: of its blocks if it is a trace (--from and --to mean those that
// were allocated between), else of its samples.
int ReportBlocks(const std::string& source, const ReportOptions& options,
                 const std::function<int(SelectedTrace, ProgressSink*)>& of_trace,
                 const std::function<int(Recording*)>& of_samples);

// For a SOURCE that is no trace: loads it, counts its live samples by `granularity` and has the
// report made.
int ReportSamples(Recording* recording, const ReportOptions& options, Granularity granularity,
                  const std::function<int(const SampledSubject&, const LiveSamplesOptions&)>& make);

}  // namespace heapgauge::cli
