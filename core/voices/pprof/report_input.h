// What a report of pprof is made of: the request, and the profile after all filters.
//
// Plain data; Prepare is pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/profile.h"
#include "core/voices/pprof/config.h"

namespace heapgauge::pprof {

struct ReportRequest {
  ReportKind kind = ReportKind::kTop;
  std::string pattern;  // of peek, list, weblist, disasm
  Config config;
};

// What the writers of single reports start from.
struct ReportInput {
  Profile profile;           // after all filters
  ReportRequest request;           // with what the kind of report overrides
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

}  // namespace heapgauge::pprof
