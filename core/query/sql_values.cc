#include "core/query/sql_values.h"

namespace heapgauge::query {

void PutCopy(sqlite3_context* out, std::string_view text) {
  sqlite3_result_text64(out, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

void PutLasting(sqlite3_context* out, std::string_view text) {
  // No bytes at no address would be NULL.
  sqlite3_result_text64(out, text.empty() ? "" : text.data(), text.size(), SQLITE_STATIC,
                        SQLITE_UTF8);
}

std::string_view TextOf(sqlite3_value* value) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
  if (text == nullptr) return {};
  return {text, static_cast<size_t>(sqlite3_value_bytes(value))};
}

}  // namespace heapgauge::query
