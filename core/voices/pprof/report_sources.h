// The sources of a report: where its configuration says, in the namespace of the profiled process
// while that runs, and on debuginfod servers if the environment names some.
#pragma once

#include <memory>

#include "core/source/source_files.h"
#include "core/symbolize/debuginfod.h"
#include "core/voices/pprof/report.h"

namespace heapgauge::pprof {

class ReportSources {
 public:
  explicit ReportSources(const ReportInput& input)
      : debuginfod_(Debuginfod::FromEnvironment()), files_(Options(input, debuginfod_.get())) {}
  ReportSources(const ReportSources&) = delete;
  ReportSources& operator=(const ReportSources&) = delete;

  SourceFiles& files() { return files_; }

 private:
  static SourceOptions Options(const ReportInput& input, Debuginfod* debuginfod) {
    SourceOptions options;
    options.search_path = input.config().source_path;
    options.trim_path = input.config().trim_path;
    const RecordingFacts& recording = input.profile.recording;
    if (recording.state == RecordingState::kLive) options.pid = recording.pid;
    options.debuginfod = debuginfod;
    return options;
  }

  std::unique_ptr<Debuginfod> debuginfod_;
  SourceFiles files_;
};

}  // namespace heapgauge::pprof
