// proto: a profile for pprof.

#include <unistd.h>

#include "cli/report_source.h"
#include "core/analysis/allocation_frames.h"
#include "core/analysis/measures.h"
#include "core/formats/pprof/pprof_writer.h"
#include "core/report/recording_text.h"

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
  const auto selected = SelectRows(loaded->profile, {options.focus, options.ignore});
  if (!selected) return FailWith(selected.error());
  Profile& profile = loaded->profile;
  profile.comments.push_back(std::string("written by heapgauge ") + Version());
  const Measures measures = MeasuresOf(profile);
  const bool recorded = IsRecorded(profile.recording);
  if (recorded && measures.is_memory) {
    profile.comments.push_back("live " + LiveText(profile.Total(measures.main), profile.recording));
  }
  for (const std::string& note : loaded->notes) profile.comments.push_back(note);
  // Profiles by other tools say themselves what to leave out, and keep their empty stacks.
  const PprofWriteOptions write = {recorded ? AllocationFunctionRegex() : "", *selected,
                                   recorded ? "(unknown stack)" : "", true};
  return DeliverBy(options, [&](TextSink* out) { return WritePprof(profile, write, out); });
}

}  // namespace

void AddProto(Command app, Action* action) {
  auto options = std::make_shared<ReportOptions>();
  AddReport(app, action, "proto", "a profile for pprof (gzip profile.proto)", Proto, R"(
Sample types: alloc_objects, alloc_space, inuse_objects, inuse_space (the default).

Example:
  heapgauge proto -o heap.pb.gz 4242 && go tool pprof -top heap.pb.gz)",
            options);
}

}  // namespace heapgauge::cli
