// Which rows of a table a request is about: those whose name matches, in the order that was asked
// for, of these a page. For the table itself and for what is asked of its rows afterwards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "endpoint/api/api.h"

namespace heapgauge::endpoint::api {

// first, rows: the page. cumulative: by cumulative figures. both: with these as well. match: a
// regular expression over names, without regard to case; the plain text if it is none. order: by
// what if not by the figure. reverse: the last first.
inline constexpr std::string_view kTableParameters[] = {"first", "rows",  "cumulative", "both",
                                                        "match", "order", "reverse"};

struct TablePage {
  Looked looked;
  std::shared_ptr<const Subject::Table> table;
  size_t first = 0;            // of those that match
  size_t count = 0;            // how many match
  std::vector<uint32_t> rows;  // of the page, in FunctionReport::rows
};

Result<TablePage> TablePageOf(const Call& call, const Filter& filter);

}  // namespace heapgauge::endpoint::api
