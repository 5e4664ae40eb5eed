// Functions that statements can call: ours, and some in place of SQLite's own.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace heapgauge::query {

// instr, replace, trim, ltrim and rtrim in place of SQLite's own, which take time in proportion to
// the product of their arguments' lengths: between two looks at the clock a statement could work
// for hours. These take time in proportion to the sum. They answer the same.
//
// May throw std::bad_alloc, which their caller must not let through to SQLite.
void Instr(sqlite3_context* out, int count, sqlite3_value** values);
void Replace(sqlite3_context* out, int count, sqlite3_value** values);
void Trim(sqlite3_context* out, int count, sqlite3_value** values);
void TrimLeft(sqlite3_context* out, int count, sqlite3_value** values);
void TrimRight(sqlite3_context* out, int count, sqlite3_value** values);

class QuerySource;

using SqlFunction = void (*)(sqlite3_context*, int, sqlite3_value**);

// Conditions of a table that are functions of a column.
inline constexpr int kLiveAt = SQLITE_INDEX_CONSTRAINT_FUNCTION;
inline constexpr int kStackContains = SQLITE_INDEX_CONSTRAINT_FUNCTION + 1;

// Functions of a column and a value that tables may use as conditions.
struct SqlOverload {
  const char* name;
  SqlFunction function;
  int op;  // in Term
};
// Null if there is none of that name.
const SqlOverload* FindOverload(std::string_view name);

struct FunctionHelp {
  const char* call;
  const char* meaning;
};
std::span<const FunctionHelp> FunctionHelps();

// Functions that statements can call, beside SQLite's own.
//
// All of them are functions of their arguments and the source alone, so SQLite may call them once
// for a whole statement where arguments are constant. The source must outlive the connection.
Status RegisterFunctions(sqlite3* db, QuerySource* source);

}  // namespace heapgauge::query
