// All tables, one function for each file that has some. The order is that of the schema.
#pragma once

#include <memory>
#include <vector>

#include "core/query/source.h"
#include "core/query/virtual_table.h"

namespace heapgauge::query {

std::shared_ptr<Table> MakeAllocationsTable(QuerySource* source);
std::shared_ptr<Table> MakeStacksTable(QuerySource* source);
std::shared_ptr<Table> MakeFramesTable(QuerySource* source);
std::shared_ptr<Table> MakeSnapshotsTable(QuerySource* source);
std::shared_ptr<Table> MakeTimelineTable(QuerySource* source);
// threads, modules, memory, blocks, figures, labels, markers, facts
std::vector<std::shared_ptr<Table>> MakeSimpleTables(QuerySource* source);

std::vector<std::shared_ptr<Table>> MakeAllTables(QuerySource* source);

}  // namespace heapgauge::query
