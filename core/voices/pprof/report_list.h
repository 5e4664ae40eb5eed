// What the source lines of functions weigh, and where a report finds its sources: pprof's `list`.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/base/regex.h"
#include "core/source/source_files.h"
#include "core/symbolize/debuginfod.h"
#include "core/voices/pprof/report.h"

namespace heapgauge::pprof {

// The sources of a report: where its configuration says, in the namespace of the profiled process
// while that runs, and on debuginfod servers if the environment names some.
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

// What the source lines of functions weigh: the figures of pprof's `list`, for those who print them
// and for those who show them in another way.
//
// A pure function of a prepared report.
struct ListedFile {
  std::vector<LineWeight> weights;
  std::string build_id;  // of a module that was compiled from it; "" unknown
  LineSum sum;
};
// By function and file. A function without files is one that nobody knows the source of.
using ListedFunctions = std::map<std::string, std::map<std::string, ListedFile>>;

// Of the functions whose names match. `input` is prepared for list.
ListedFunctions ListFunctions(const ReportInput& input, const Regex& regex);

// The page around a weblist: style and script. It needs nothing from elsewhere, follows the light
// or dark preference of the reader, and is readable without the script. A click on a line, or Enter
// on it, shows the code under it; the two buttons do so for all lines.

// A format for fmt with the title.
extern const char kWeblistStart[];
extern const char kWeblistEnd[];

}  // namespace heapgauge::pprof
