// pprof's reports, in pprof's words: filters, the input that they leave, and the writers of single
// reports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/base/sinks.h"
#include "core/model/profile.h"
#include "core/voices/pprof/config.h"

namespace heapgauge::pprof {

// pprof's filters, all of them, in pprof's order: labels become frames (tagroot, tagleaf); focus,
// ignore, hide and show; show_from; tagfocus and tagignore; tagshow and taghide; prune_from.
//
// Takes time in proportion to the nodes, rows and distinct names of the profile.
//
// A filter that matches nothing is told in `warnings`, as pprof does on standard error. An
// expression that cannot be compiled is an error.
Status ApplyFilters(const Config& config, Profile* profile, std::vector<std::string>* warnings);

// What a report of pprof is made of: the request, and the profile after all filters.
//
// Plain data; Prepare is pure.
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

// The writers of single reports. WriteReport() picks one; nobody else calls them.
//
// All of them stream to the sink and stop at its first error. Single-threaded.

// From the call graph.
Status WriteTop(const ReportInput& input, TextSink* out);
Status WriteTree(const ReportInput& input, TextSink* out);  // also peek
Status WriteDot(const ReportInput& input, TextSink* out);
Status WriteCallgrind(const ReportInput& input, TextSink* out);

// From the rows.
Status WriteTraces(const ReportInput& input, TextSink* out);
Status WriteTags(const ReportInput& input, TextSink* out);
Status WriteRaw(const ReportInput& input, TextSink* out);
Status WriteComments(const ReportInput& input, TextSink* out);

// With sources and machine code.
Status WriteList(const ReportInput& input, TextSink* out);
Status WriteWeblist(const ReportInput& input, TextSink* out);
Status WriteDisasm(const ReportInput& input, TextSink* out);

// As profiles.
Status WriteProto(const ReportInput& input, TextSink* out);
Status WriteTopProto(const ReportInput& input, TextSink* out);

// pprof's reports, in pprof's words: byte for byte what `go tool pprof` prints for the same profile
// and options, but for the differences that docs/pprof.md lists.
//
// The way of a report: Prepare() applies the options that select and rewrite, and works
// out which value is shown and what 100 % is; then the writer of the kind prints it. Reading,
// merging, symbolizing and leaving out the profile's drop_frames come before and are the caller's.
//
// Output is streamed. Single-threaded.
Status WriteReport(const ReportInput& input, TextSink* out);

}  // namespace heapgauge::pprof
