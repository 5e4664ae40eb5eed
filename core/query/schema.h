// The tables and functions in words, for people who write queries.
#pragma once

#include <string>

#include "core/base/json.h"
#include "core/query/source.h"

namespace heapgauge::query {

// What there is for this source; without one, all there can be.
std::string SchemaText(QuerySource* source);

// The same for programs that complete what people type. Only tables that this source has.
struct SchemaParts {
  Json tables = Json::Array();     // {name, meaning, columns: [{name, type, meaning}]}
  Json functions = Json::Array();  // {call: "human(BYTES)", meaning}
};
SchemaParts PartsOfSchema(QuerySource* source);

}  // namespace heapgauge::query
