// The table of functions: where the memory is. As text for people and as JSON for programs.
//
// Pure functions.
#ifndef HEAPGAUGE_CORE_REPORT_TOP_H_
#define HEAPGAUGE_CORE_REPORT_TOP_H_

#include <cstddef>
#include <string>
#include <vector>

#include "core/analysis/functions.h"
#include "core/model/profile.h"

namespace heapgauge {

struct TopOptions {
  size_t rows = 20;
  size_t width = 120;       // columns of the terminal
  bool cumulative = false;  // show cumulative figures in place of flat ones
  SortKey sort = SortKey::kLive;
};

std::string TopText(const Profile& profile, const FunctionReport& report,
                    const std::vector<std::string>& notes, const TopOptions& options);
std::string TopJson(const Profile& profile, const FunctionReport& report,
                    const std::vector<std::string>& notes, const TopOptions& options);

}  // namespace heapgauge

#endif  // HEAPGAUGE_CORE_REPORT_TOP_H_
