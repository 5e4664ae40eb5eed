#include "core/query/text_functions.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_set>

#include "core/query/sql_values.h"

namespace heapgauge::query {
namespace {

bool IsAnyNull(int count, sqlite3_value** values) {
  return std::any_of(values, values + count,
                     [](sqlite3_value* value) { return sqlite3_value_type(value) == SQLITE_NULL; });
}

std::string_view BytesOf(sqlite3_value* value) {
  const auto* bytes = static_cast<const char*>(sqlite3_value_blob(value));
  return {bytes, bytes == nullptr ? 0 : static_cast<size_t>(sqlite3_value_bytes(value))};
}

void PutText(sqlite3_context* out, std::string_view text) {
  sqlite3_result_text64(out, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

// Where `part` is in `whole`, from `from` on; npos if nowhere. In linear time, which
// std::string_view::find is not.
size_t FindIn(std::string_view whole, std::string_view part, size_t from = 0) {
  const void* found = memmem(whole.data() + from, whole.size() - from, part.data(), part.size());
  return found == nullptr ? std::string_view::npos
                          : static_cast<size_t>(static_cast<const char*>(found) - whole.data());
}

bool IsWithinGlyph(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

size_t GlyphsIn(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !IsWithinGlyph(c); }));
}

// The bytes of the first glyph, and of the last one. SQLite takes bytes that belong to none for
// glyphs of their own, unless they follow one.
size_t FirstGlyph(std::string_view text) {
  size_t bytes = 1;
  if (static_cast<unsigned char>(text[0]) < 0xc0) return bytes;
  while (bytes < text.size() && IsWithinGlyph(text[bytes])) ++bytes;
  return bytes;
}

// The glyphs that are to be cut off.
class Unwanted {
 public:
  explicit Unwanted(std::string_view glyphs) {
    while (!glyphs.empty()) {
      const size_t bytes = FirstGlyph(glyphs);
      set_.insert(glyphs.substr(0, bytes));
      longest_ = std::max(longest_, bytes);
      glyphs.remove_prefix(bytes);
    }
  }
  // Bytes at that end of the text that are one of them; 0 if none is.
  size_t AtStart(std::string_view text) const { return Match(text, false); }
  size_t AtEnd(std::string_view text) const { return Match(text, true); }

 private:
  size_t Match(std::string_view text, bool at_end) const {
    // Glyphs of UTF-8 have four bytes at the most; what is none may have more.
    const size_t most = std::min(longest_, text.size());
    for (size_t bytes = 1; bytes <= most; ++bytes) {
      if (set_.count(at_end ? text.substr(text.size() - bytes) : text.substr(0, bytes)) != 0) {
        return bytes;
      }
    }
    return 0;
  }

  std::unordered_set<std::string_view> set_;
  size_t longest_ = 0;
};

void TrimEnds(sqlite3_context* out, int count, sqlite3_value** values, bool left, bool right) {
  // A glyph that goes on for ever makes no sense, and takes long to look for.
  constexpr size_t kLongestSet = 1000;
  if (IsAnyNull(count, values)) return;
  std::string_view text = TextOf(values[0]);
  const std::string_view set = count == 2 ? TextOf(values[1]) : std::string_view(" ");
  if (set.size() > kLongestSet) {
    return sqlite3_result_error(out, "trim(): more than 1000 bytes of characters to cut off", -1);
  }
  const Unwanted unwanted(set);
  if (left) {
    while (const size_t bytes = unwanted.AtStart(text)) text.remove_prefix(bytes);
  }
  if (right) {
    while (const size_t bytes = unwanted.AtEnd(text)) text.remove_suffix(bytes);
  }
  PutText(out, text);
}

}  // namespace

void Instr(sqlite3_context* out, int count, sqlite3_value** values) {
  if (IsAnyNull(count, values)) return;
  const bool bytes =
      sqlite3_value_type(values[0]) == SQLITE_BLOB && sqlite3_value_type(values[1]) == SQLITE_BLOB;
  const std::string_view whole = bytes ? BytesOf(values[0]) : TextOf(values[0]);
  const std::string_view part = bytes ? BytesOf(values[1]) : TextOf(values[1]);
  const size_t at = FindIn(whole, part);
  if (at == std::string_view::npos) return sqlite3_result_int(out, 0);
  const size_t before = bytes ? at : GlyphsIn(whole.substr(0, at));
  sqlite3_result_int64(out, static_cast<int64_t>(before) + 1);
}

void Replace(sqlite3_context* out, int count, sqlite3_value** values) {
  if (IsAnyNull(count, values)) return;
  const std::string_view text = TextOf(values[0]);
  const std::string_view part = TextOf(values[1]);
  const std::string_view other = TextOf(values[2]);
  if (part.empty()) return PutText(out, text);
  const auto most =
      static_cast<size_t>(sqlite3_limit(sqlite3_context_db_handle(out), SQLITE_LIMIT_LENGTH, -1));
  std::string made;
  size_t from = 0;
  for (size_t at = FindIn(text, part); at != std::string_view::npos;
       at = FindIn(text, part, from)) {
    made.append(text.substr(from, at - from)).append(other);
    from = at + part.size();
    if (made.size() > most) return sqlite3_result_error_toobig(out);
  }
  PutText(out, made.append(text.substr(from)));
}

void Trim(sqlite3_context* out, int count, sqlite3_value** values) {
  TrimEnds(out, count, values, true, true);
}
void TrimLeft(sqlite3_context* out, int count, sqlite3_value** values) {
  TrimEnds(out, count, values, true, false);
}
void TrimRight(sqlite3_context* out, int count, sqlite3_value** values) {
  TrimEnds(out, count, values, false, true);
}

}  // namespace heapgauge::query
