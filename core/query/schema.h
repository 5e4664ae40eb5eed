// All tables, and the tables and functions in words.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/query/source.h"
#include "core/query/virtual_table.h"

namespace heapgauge::query {

// All tables, one function for each file that has some. The order is that of the schema.
std::shared_ptr<Table> MakeAllocationsTable(QuerySource* source);
std::shared_ptr<Table> MakeStacksTable(QuerySource* source);
std::shared_ptr<Table> MakeFramesTable(QuerySource* source);
std::shared_ptr<Table> MakeSnapshotsTable(QuerySource* source);
std::shared_ptr<Table> MakeTimelineTable(QuerySource* source);
// threads, modules, memory, blocks, figures, labels, markers, facts
std::vector<std::shared_ptr<Table>> MakeSimpleTables(QuerySource* source);

std::vector<std::shared_ptr<Table>> MakeAllTables(QuerySource* source);

// The tables and functions in words, for people who write queries.
//
// What there is for this source; without one, all there can be.
std::string SchemaText(QuerySource* source);

// The same for programs that complete what people type. Only tables that this source has.
struct SchemaParts {
  Json tables = Json::Array();     // {name, meaning, columns: [{name, type, meaning}]}
  Json functions = Json::Array();  // {call: "human(BYTES)", meaning}
};
SchemaParts PartsOfSchema(QuerySource* source);

}  // namespace heapgauge::query
