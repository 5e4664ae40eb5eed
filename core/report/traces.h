// Whole stacks, the heaviest first, each with its figures.
//
// Pure functions.
#ifndef HEAPGAUGE_CORE_REPORT_TRACES_H_
#define HEAPGAUGE_CORE_REPORT_TRACES_H_

#include <cstddef>
#include <string>
#include <vector>

#include "core/analysis/functions.h"
#include "core/base/result.h"
#include "core/model/profile.h"

namespace heapgauge {

struct TracesOptions {
  size_t rows = 10;
  size_t width = 120;
  SortKey sort = SortKey::kLive;
  RowFilter filter;
};

Result<std::string> TracesText(const Profile& profile, const std::vector<std::string>& notes,
                               const TracesOptions& options);
Result<std::string> TracesJson(const Profile& profile, const TracesOptions& options);

}  // namespace heapgauge

#endif  // HEAPGAUGE_CORE_REPORT_TRACES_H_
