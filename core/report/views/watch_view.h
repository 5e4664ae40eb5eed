// The screen of `top --watch`: what its reader has chosen to see, and its text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/fold/functions.h"
#include "core/model/profile.h"
#include "core/report/labels.h"
#include "core/report/views/top.h"

namespace heapgauge {

struct Key {
  enum Kind {
    kText,  // a character, in `text`
    kUp,
    kDown,
    kLeft,
    kRight,
    kPageUp,
    kPageDown,
    kHome,
    kEnd,
    kEnter,
    kEscape,
    kBackspace,
    kDelete,
    kKillLine,   // Ctrl-U
    kInterrupt,  // Ctrl-C, Ctrl-D
    kRedraw,     // Ctrl-L
    kSuspend,    // Ctrl-Z
    kUnknown,
  };
  Kind kind = kUnknown;
  std::string text;
};

// What a person who watches a program has chosen to see, and what keys do to it.
//
// Plain data and pure functions: who reads the keys and draws is cli/watch. The keys are listed in
// watch_view.cc, for the help.
struct WatchView {
  SortKey sort = SortKey::kLive;
  bool by_growth = false;  // in place of `sort`
  bool cumulative = false;
  Granularity granularity = Granularity::kFunctions;
  Names names = Names::kShort;
  RowFilter filter;

  size_t scroll = 0;  // rows above the first one shown
  bool frozen = false;
  bool help = false;

  // A pattern that is being typed.
  enum class Input { kNothing, kFocus, kIgnore };
  Input input = Input::kNothing;
  std::string line;
  size_t cursor = 0;    // byte in `line`
  std::string message;  // what is wrong with it
};

enum class WatchAction {
  kNothing,
  kDraw,     // the same figures look different now
  kCompute,  // other figures are asked for
  kRefresh,  // new data are asked for
  kRestart,  // growth is to count from now on
  kSuspend,
  kQuit,
};

// Does what a key means. `rows` is the length of the table, `page` how many of them are shown.
WatchAction HandleKey(const Key& key, size_t rows, size_t page, WatchView* view);

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

// The screen of `top --watch`: figures of this moment, how they changed since the last refresh and
// since the watch began, and a line for keys or for what is being typed.
//
// A pure function of what is watched, what was chosen to be seen, and the size of the screen.
//
// The screen: at most size.lines lines of at most size.columns columns.
std::vector<StyledText> WatchScreen(const WatchData& data, const WatchView& view,
                                    const WatchTable& table, const ScreenSize& size, bool utf8);

}  // namespace heapgauge
