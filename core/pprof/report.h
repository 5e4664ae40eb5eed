// pprof's reports, in pprof's words: byte for byte what `go tool pprof` prints for the same profile
// and options, but for the differences that docs/pprof.md lists.
//
// The way of a report: Prepare() applies the options that select and rewrite (filters.h), and works
// out which value is shown and what 100 % is; then the writer of the kind prints it. Reading,
// merging, symbolizing and leaving out the profile's drop_frames come before and are the caller's.
//
// Output is streamed. Single-threaded.
#ifndef HEAPGAUGE_CORE_PPROF_REPORT_H_
#define HEAPGAUGE_CORE_PPROF_REPORT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/base/text_sink.h"
#include "core/model/profile.h"
#include "core/pprof/config.h"

namespace heapgauge::pprof {

struct ReportRequest {
  ReportKind kind = ReportKind::kTop;
  std::string pattern;  // of peek, list, weblist, disasm
  Config config;
};

// What the writers of single reports start from.
struct ReportInput {
  Profile profile;           // after all filters
  ReportRequest request;     // with what the kind of report overrides
  size_t type = 0;           // the sample type that is shown
  int64_t total = 0;         // in the unit shown: with config().mean, the mean of all
  int64_t total_weight = 0;  // what is 100 %: the sum of all, never a mean
  // Units of the numeric labels by key, as the profile had them before all filters.
  std::map<std::string, std::string, std::less<>> label_units;
  std::vector<std::string> active_filters;  // "focus=alloc"
  std::vector<std::string> warnings;        // "Focus expression matched no samples"
  const Config& config() const { return request.config; }
};

// Takes the profile apart; a shell copies it first.
Result<ReportInput> Prepare(Profile profile, const ReportRequest& request);

Status WriteReport(const ReportInput& input, TextSink* out);

}  // namespace heapgauge::pprof

#endif  // HEAPGAUGE_CORE_PPROF_REPORT_H_
