#include "core/query/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/base/text.h"
#include "core/query/sql_functions.h"

namespace heapgauge::query {
std::string SchemaText(QuerySource* source) {
  std::unique_ptr<QuerySource> empty;
  const bool any = source == nullptr;
  if (any) {
    empty = QuerySource::OfProfile({});
    source = empty.get();
  }
  std::string text;
  for (const auto& table : MakeAllTables(source)) {
    text += fmt::format("{}: {}\n", table->name(), table->meaning());
    if (!any) {
      if (const Status available = table->Available(); !available) {
        text += "  (" + available.error().message + ")\n\n";
        continue;
      }
    }
    size_t width = 0;
    for (const Column& column : table->columns()) {
      width = std::max(width, std::strlen(column.name));
    }
    for (const Column& column : table->columns()) {
      text += fmt::format("  {:<{}}  {:<7}  {}{}\n", column.name, width, LowerCase(column.type),
                          column.meaning, column.hidden ? " (not in SELECT *)" : "");
    }
    text += "\n";
  }
  text += "functions, beside those of SQLite\n";
  size_t width = 0;
  for (const FunctionHelp& help : FunctionHelps()) width = std::max(width, std::strlen(help.call));
  for (const FunctionHelp& help : FunctionHelps()) {
    text += fmt::format("  {:<{}}  {}\n", help.call, width, help.meaning);
  }
  text += "\nTimes are nanoseconds since the recording began, sizes are bytes.\n";
  return text;
}

SchemaParts PartsOfSchema(QuerySource* source) {
  SchemaParts parts;
  for (const auto& table : MakeAllTables(source)) {
    if (!table->Available()) continue;
    Json columns = Json::Array();
    for (const Column& column : table->columns()) {
      columns.Add(
          {{"name", column.name}, {"type", LowerCase(column.type)}, {"meaning", column.meaning}});
    }
    parts.tables.Add(
        {{"name", table->name()}, {"meaning", table->meaning()}, {"columns", std::move(columns)}});
  }
  for (const FunctionHelp& help : FunctionHelps()) {
    parts.functions.Add({{"call", help.call}, {"meaning", help.meaning}});
  }
  return parts;
}

}  // namespace heapgauge::query
