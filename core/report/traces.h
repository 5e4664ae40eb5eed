// Whole stacks, the heaviest first, each with its figures. Stacks that are the same at the
// granularity asked for are one.
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
#include "core/report/labels.h"
#include "core/report/styled_text.h"

namespace heapgauge {

struct TracesOptions {
  size_t rows = 10;
  Layout layout;
  SortKey sort = SortKey::kLive;
  RowFilter filter;
  Granularity granularity = Granularity::kLines;
  Names names = Names::kShort;
};

Result<StyledText> TracesText(const Profile& profile, const std::vector<std::string>& notes,
                              const TracesOptions& options);
Result<std::string> TracesJson(const Profile& profile, const TracesOptions& options);

}  // namespace heapgauge

#endif  // HEAPGAUGE_CORE_REPORT_TRACES_H_
