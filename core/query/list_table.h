// A table that is a list: how many rows, and what is in each. Enough for most of them.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "core/query/source.h"
#include "core/query/virtual_table.h"

namespace heapgauge::query {

// Called when a walk begins.
using CountRows = std::function<Result<size_t>()>;
// Puts a column of a row, or nothing for NULL.
using PutColumn = std::function<void(size_t row, int column, sqlite3_context* out)>;

// `key` is a column that holds the row's own number, so that other tables can be joined quickly;
// -1: none does. An error in `available` says why there is no such table here.
std::shared_ptr<Table> MakeList(QuerySource* source, const char* name, const char* meaning,
                                std::vector<Column> columns, CountRows count, PutColumn put,
                                int key = -1, Status available = {});

}  // namespace heapgauge::query
