// Options that the reports on one profile have in common.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/symbol_options.h"
#include "core/recording/view.h"

namespace heapgauge::cli {

struct ReportOptions : View {
  std::vector<std::string> sources;
  std::string pick;
  std::string output;
  std::string colour = "auto";
  int rows = -1;            // the report's own default; 0: all
  std::string pattern;      // of peek and list
  std::string source_path;  // where list looks for sources
  std::string trim_path;
  bool json = false;
  bool csv = false;
  bool text = false;       // for the terminal, whatever the default
  bool only_sure = false;  // of changes
  bool cumulative = false;
  bool callers = false;
  bool compress = false;
  double fold = 1;     // percent
  size_t depth = 0;    // 0 no limit
  std::string watch;   // seconds between refreshes; "": no watch
  bool quiet = false;  // no progress line
  // To standard error in place of standard output, beside a program that has it for itself; nothing
  // comes of it if that cannot be written.
  bool beside = false;
  SymbolOptions symbols;

  // As many as were asked for, or as the report has by itself.
  size_t RowsOr(size_t usual) const {
    constexpr size_t kAll = 1'000'000'000;
    return rows < 0 ? usual : rows == 0 ? kAll : static_cast<size_t>(rows);
  }
};

// Runs `top`; `ctl peak` uses it too.
int Top(const ReportOptions& options);

}  // namespace heapgauge::cli
