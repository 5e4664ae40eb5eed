// Values out of SQLite and into it, and the lifespan of a block as one of them.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/base/result.h"
#include "core/query/source.h"
#include "core/trace/file/block.h"

namespace heapgauge::query {

// Values out of SQLite and into it.
//
// Every function is for the thread of the call that SQLite makes.

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

// When a block was there, as one value that SQL can pass around: the hidden column `lifespan` of
// allocations, which live_at() looks at. A function sees no row, only values; and with one column
// as its first argument SQLite offers it to the table as a condition.
void PutLifespan(const trace::Block& block, sqlite3_context* out);

// Whether a lifespan contains a moment. Nothing if the value is no lifespan.
std::optional<bool> LifespanContains(sqlite3_value* lifespan, const ExactMoment& moment);

// A moment as SQL may give it: nanoseconds, or a text such as 'peak'. Nothing for NULL, and for
// moments before the start, at which nothing is live.
Result<std::optional<uint64_t>> MomentOf(sqlite3_value* value, const QuerySource& source);
// The same of when something is live: 'peak' is after the event that made it so, and a text that
// names a moment behind the end of a trace fails.
Result<std::optional<ExactMoment>> ExactMomentOf(sqlite3_value* value, QuerySource* source);

}  // namespace heapgauge::query
