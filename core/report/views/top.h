// The table of functions: where the memory is. As text for people and as JSON for programs.
//
// Columns come and go with the width: what a row is about is always there, the rest as far as names
// keep enough room. Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/fold/functions.h"
#include "core/model/profile.h"
#include "core/report/labels.h"
#include "core/report/styled_text.h"

namespace heapgauge {

struct TopOptions {
  size_t rows = 20;
  Layout layout;
  bool cumulative = false;  // show cumulative figures in place of flat ones
  SortKey sort = SortKey::kLive;
  Names names = Names::kShort;
};

StyledText TopText(const Profile& profile, const FunctionReport& report,
                   const std::vector<std::string>& notes, const TopOptions& options);
std::string TopCsv(const Profile& profile, const FunctionReport& report, const TopOptions& options);
std::string TopJson(const Profile& profile, const FunctionReport& report,
                    const std::vector<std::string>& notes, const TopOptions& options);

// How the live bytes of a row have changed.
struct RowChange {
  double since_last = 0;   // refresh
  double since_start = 0;  // of the watch
};

// The table alone: its heading, and rows from `first` on. `changes`, one for each row of the
// report, adds columns for them.
StyledText TopTable(const Profile& profile, const FunctionReport& report, size_t first,
                    const TopOptions& options, const std::vector<RowChange>* changes = nullptr);

// "selected  12.3 MB live, ..." where a filter leaves rows out; else empty.
StyledText SelectedText(const FunctionReport& report);

// "12 more functions", in the word for the granularity.
std::string MoreText(size_t count, Granularity granularity);

}  // namespace heapgauge
