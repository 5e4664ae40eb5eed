// What a person who watches a program has chosen to see, and what keys do to it.
//
// Plain data and pure functions: who reads the keys and draws is cli/watch. The keys are listed in
// watch_text.cc, for the help.
#pragma once

#include <cstddef>
#include <string>

#include "core/fold/functions.h"
#include "core/report/labels.h"

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

}  // namespace heapgauge
