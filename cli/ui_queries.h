// SQL for the page of `ui`: core/query over the sources that it shows.
#pragma once

#include <memory>

#include "cli/symbol_options.h"
#include "endpoint/api/queries.h"

namespace heapgauge::cli {

// Statements run one at a time, each for a bounded time and in bounded memory.
std::shared_ptr<endpoint::api::Queries> MakeQueries(const SymbolOptions& symbols);

}  // namespace heapgauge::cli
