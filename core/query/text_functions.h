// instr, replace, trim, ltrim and rtrim in place of SQLite's own, which take time in proportion to
// the product of their arguments' lengths: between two looks at the clock a statement could work
// for hours. These take time in proportion to the sum. They answer the same.
//
// May throw std::bad_alloc, which their caller must not let through to SQLite.
#pragma once

#include <sqlite3.h>

namespace heapgauge::query {

void Instr(sqlite3_context* out, int count, sqlite3_value** values);
void Replace(sqlite3_context* out, int count, sqlite3_value** values);
void Trim(sqlite3_context* out, int count, sqlite3_value** values);
void TrimLeft(sqlite3_context* out, int count, sqlite3_value** values);
void TrimRight(sqlite3_context* out, int count, sqlite3_value** values);

}  // namespace heapgauge::query
