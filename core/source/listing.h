// Which lines of a source file a function's listing shows, with what they weigh.
//
// The rule is pprof's: from the function's first line, or five lines before the first line that
// weighs anything, to five lines behind the last one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/source/source_files.h"

namespace heapgauge {

// A line of a function with figures; several may be of the same line.
struct LineWeight {
  int64_t line = 0;
  int64_t start_line = 0;  // of the function, 0 unknown
  int64_t flat = 0;
  int64_t cum = 0;
  int64_t flat_div = 0;  // what they are divided by for means, 0 for sums
  int64_t cum_div = 0;
};

// What several of them weigh together.
struct LineSum {
  int64_t flat = 0;
  int64_t cum = 0;
  int64_t flat_div = 0;
  int64_t cum_div = 0;
  void Add(const LineWeight& weight);
};

struct ListedLine {
  int64_t number = 0;
  LineSum sum;
  std::string_view text;  // in the SourceFiles
};

// Stops where the file ends; empty if there is no such file. REQUIRES: `weights` is not empty.
std::vector<ListedLine> ListLines(const std::string& path, const std::string& build_id,
                                  const std::vector<LineWeight>& weights, SourceFiles* files);

}  // namespace heapgauge
