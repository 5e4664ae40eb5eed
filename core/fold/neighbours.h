// Functions among their neighbours: who calls them and what they call, each with how much of the
// function's memory goes that way.
//
// A stack counts once for each pair of neighbours, however often the function is on it. A pure
// function; time is linear in the frames of all rows.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/fold/functions.h"
#include "core/fold/groundwork.h"

namespace heapgauge {

struct Neighbour {
  EntityId entity = kNone;  // kNone as a caller: nobody, the stack begins here; as a callee: itself
  HeapFigures figures;
};

struct Peeked {
  size_t row = 0;  // in FunctionReport::rows
  std::vector<Neighbour> callers;
  std::vector<Neighbour> callees;
};

struct Neighbours {
  std::vector<Peeked> functions;  // as the report has them
  size_t matching = 0;            // of which `most` are in the list
};

struct NeighbourOptions {
  std::string pattern;  // RE2, over the names of functions; files or modules where these are shown
  RowFilter filter;     // that the report was made with
  SortKey sort = SortKey::kLive;
  size_t most = 10;  // functions
};

// The functions of the report that match. Fails if the pattern is no regular expression.
Result<Neighbours> FindNeighbours(const Groundwork& groundwork, const FunctionReport& report,
                                  const NeighbourOptions& options);

}  // namespace heapgauge
