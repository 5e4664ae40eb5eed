// The screen of `top --watch`: figures of this moment, how they changed since the last refresh and
// since the watch began, and a line for keys or for what is being typed.
//
// Pure functions of what is watched, what was chosen to be seen, and the size of the screen.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/profile.h"
#include "core/report/views/top.h"
#include "core/report/views/watch_view.h"

namespace heapgauge {

// What is watched. The profiles must outlive the call.
struct WatchData {
  const Profile* now = nullptr;
  const Profile* last = nullptr;   // at the refresh before
  const Profile* first = nullptr;  // when the watch began
  uint64_t every_ms = 2000;
  std::string trouble;  // why there are no newer data, "" if there are
};

struct WatchTable {
  FunctionReport report;
  std::vector<RowChange> changes;  // by row of the report
  RowChange total;                 // of the selected rows
};

// The figures for a view. Fails if a filter is not a regular expression.
Result<WatchTable> ComputeWatch(const WatchData& data, const WatchView& view);

struct ScreenSize {
  size_t columns = 80;
  size_t lines = 24;
};

// Rows of the table that a screen of this size shows.
size_t WatchPage(const ScreenSize& size);

// The screen: at most size.lines lines of at most size.columns columns.
std::vector<StyledText> WatchScreen(const WatchData& data, const WatchView& view,
                                    const WatchTable& table, const ScreenSize& size, bool utf8);

}  // namespace heapgauge
