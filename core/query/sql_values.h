// Values out of SQLite and into it.
//
// Every function is for the thread of the call that SQLite makes.
#pragma once

#include <sqlite3.h>
#include <cstdint>
#include <string_view>

namespace heapgauge::query {

// Results. Text that lasts as long as the connection need not be copied.
inline void Put(sqlite3_context* out, uint64_t value) {
  sqlite3_result_int64(out, value > INT64_MAX ? INT64_MAX : static_cast<int64_t>(value));
}
void PutCopy(sqlite3_context* out, std::string_view text);
void PutLasting(sqlite3_context* out, std::string_view text);
inline void PutOrNull(sqlite3_context* out, uint64_t value) {
  if (value != 0) Put(out, value);
}
inline void PutLastingOrNull(sqlite3_context* out, std::string_view text) {
  if (!text.empty()) PutLasting(out, text);
}

std::string_view TextOf(sqlite3_value* value);

}  // namespace heapgauge::query
