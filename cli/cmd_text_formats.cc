// gperftools, jemalloc: a profile in the text formats of these allocators.

#include "cli/report_options.h"
#include "cli/report_source.h"
#include "core/formats/heap_text/heap_text.h"
#include "core/formats/jemalloc/jemalloc.h"

namespace heapgauge::cli {
namespace {

using Writer = Status (*)(const Profile&, const TextWriteOptions&, TextSink*);

int Write(const ReportOptions& options, bool symbolized, const char* has, Writer writer) {
  if (const Status can = CheckLiveExport(options, {has, true}); !can) return FailWith(can.error());
  const auto loaded = Load(options);
  if (!loaded) return FailWith(loaded.error());
  TellNotes(loaded->profile.notes);
  const auto selected = SelectRows(loaded->profile, {options.focus, options.ignore});
  if (!selected) return FailWith(selected.error());
  TextWriteOptions text;
  text.selected = *selected;
  text.symbolized = symbolized;
  StringSink sink;
  const Status status = writer(loaded->profile, text, &sink);
  return status ? Deliver(options, sink.text()) : FailWith(status.error());
}

// The commands take no options that say which one they are.
bool g_symbolized = false;
int Gperftools(const ReportOptions& options) {
  return Write(options, g_symbolized,
               "gperftools' format has blocks and bytes, what is live and what was allocated",
               WriteHeapText);
}
int Jemalloc(const ReportOptions& options) {
  return Write(options, g_symbolized,
               "jemalloc's format has blocks and bytes, what is live and what was allocated",
               WriteJemalloc);
}

void DescribeTextFormat(Command sub, Action* action, int (*run)(const ReportOptions&),
                        const char* footer) {
  DescribeReport(sub, action, run, footer, std::make_shared<ReportOptions>());
  sub.Flag("--symbolized", &g_symbolized,
           "put the names of all addresses in front, for readers without the binaries");
}

void DescribeGperftools(Command sub, Action* action) {
  DescribeTextFormat(sub, action, Gperftools, R"(
Read by pprof, google-pprof and jeprof. Sampled figures are written as samples (heap_v2), such that
readers come to the same figures; exact ones as they are. The file has what is live and what was
allocated, of a trace within --from and --to; other figures (--value, --type) are refused.

Example:
  heapgauge gperftools -o heap.txt 4242 && google-pprof --text /usr/bin/server heap.txt)");
}

void DescribeJemalloc(Command sub, Action* action) {
  DescribeTextFormat(sub, action, Jemalloc, R"(
Read by jeprof. The file has what is live and what was allocated, of a trace within --from and --to;
other figures (--value, --type) are refused.

Example:
  heapgauge jemalloc -o heap.txt 4242 && jeprof --text /usr/bin/server heap.txt)");
}

}  // namespace

const CommandEntry kGperftoolsCommand = {"gperftools", "a heap profile in gperftools' text format",
                                         DescribeGperftools};
const CommandEntry kJemallocCommand = {"jemalloc", "a heap profile in jemalloc's format",
                                       DescribeJemalloc};

}  // namespace heapgauge::cli
