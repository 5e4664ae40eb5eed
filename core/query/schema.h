// The tables and functions in words, for people who write queries.
#ifndef HEAPGAUGE_CORE_QUERY_SCHEMA_H_
#define HEAPGAUGE_CORE_QUERY_SCHEMA_H_

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

#endif  // HEAPGAUGE_CORE_QUERY_SCHEMA_H_
