#include "cli/trace_source.h"

#include "cli/progress_line.h"
#include "core/base/byte_stream.h"
#include "core/base/peeking_stream.h"

namespace heapgauge::cli {

bool IsTraceSource(const ReportOptions& options) {
  if (options.sources.size() != 1 || options.sources.front() == "-") return false;
  auto opened = OpenStream(options.sources.front());
  if (!opened) return false;
  PeekingStream stream(*std::move(opened));
  const auto start = stream.Peek(64);
  return start && trace::IsTrace(*start);
}

Result<OpenedTrace> OpenTrace(const ReportOptions& options) {
  if (!options.focus.empty() || !options.ignore.empty() || options.peak) {
    return Fail(ErrorCode::kUnsupported,
                "of a trace all is written: --focus, --ignore and --peak are for profiles");
  }
  ProgressSink* progress = options.quiet ? nullptr : BeginProgress();
  OpenedTrace opened;
  HG_ASSIGN(opened.file, trace::TraceFile::Open(options.sources.front()));
  HG_ASSIGN(const auto stacks, opened.file->ReadStacks());
  opened.stacks = *stacks;
  NameLocations(options.symbols, &opened.stacks.profile, progress);
  return opened;
}

}  // namespace heapgauge::cli
