// proto: a profile for pprof.

#include <unistd.h>

#include "cli/report_source.h"
#include "core/fold/measures.h"
#include "core/report/views/exports.h"

namespace heapgauge::cli {
namespace {

int Proto(const ReportOptions& options) {
  if (options.output.empty() && isatty(STDOUT_FILENO) == 1) {
    return FailWith("a pprof profile is binary; write it to a file with -o heap.pb.gz");
  }
  auto loaded = Load(options);
  if (!loaded) return FailWith(loaded.error());
  if (!options.type.empty()) {
    if (const Status chosen = ChooseType(options.type, &loaded->profile); !chosen) {
      return FailWith(chosen.error());
    }
  }
  TellNotes(loaded->profile.notes);
  ExportOptions how;
  how.filter = {options.focus, options.ignore};
  how.notes = loaded->notes;
  how.writer = std::string("heapgauge ") + Version();
  return DeliverBy(options,
                   [&](TextSink* out) { return WriteExplainedPprof(loaded->profile, how, out); });
}

void DescribeProto(Command sub, Action* action) {
  auto options = std::make_shared<ReportOptions>();
  DescribeReport(sub, action, Proto, R"(
Sample types: alloc_objects, alloc_space, inuse_objects, inuse_space (the default).

Example:
  heapgauge proto -o heap.pb.gz 4242 && go tool pprof -top heap.pb.gz)",
                 options);
}

}  // namespace

const CommandEntry kProtoCommand = {"proto", "a profile for pprof (gzip profile.proto)",
                                    DescribeProto};

}  // namespace heapgauge::cli
