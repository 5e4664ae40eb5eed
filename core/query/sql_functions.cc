#include "core/query/sql_functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <unordered_set>

#include "core/base/regex.h"
#include "core/base/text.h"
#include "core/query/source.h"
#include "core/query/sql_values.h"
#include "core/trace/answer/trace_moment.h"

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

namespace {

QuerySource* SourceOf(sqlite3_context* context) {
  return static_cast<QuerySource*>(sqlite3_user_data(context));
}

void PutError(sqlite3_context* out, const std::string& message) {
  sqlite3_result_error(out, message.data(), static_cast<int>(message.size()));
}

bool IsNull(sqlite3_value* value) { return sqlite3_value_type(value) == SQLITE_NULL; }

bool IsNumber(sqlite3_value* value) {
  return sqlite3_value_numeric_type(value) == SQLITE_INTEGER ||
         sqlite3_value_numeric_type(value) == SQLITE_FLOAT;
}

void LiveAt(sqlite3_context* out, int, sqlite3_value** values) {
  const auto moment = ExactMomentOf(values[1], SourceOf(out));
  if (!moment) return PutError(out, moment.error().message);
  if (IsNull(values[1]) || IsNull(values[0])) return;
  if (!*moment) return sqlite3_result_int(out, 0);
  const std::optional<bool> contains = LifespanContains(values[0], **moment);
  if (!contains) return PutError(out, "live_at is about rows of allocations: live_at(MOMENT)");
  sqlite3_result_int(out, *contains ? 1 : 0);
}

void StackContains(sqlite3_context* out, int, sqlite3_value** values) {
  if (IsNull(values[0]) || IsNull(values[1])) return;
  const auto names = SourceOf(out)->Names();
  if (!names) return PutError(out, names.error().message);
  const auto matching = (*names)->Matching(TextOf(values[1]));
  if (!matching) return PutError(out, matching.error().message);
  const int64_t stack = sqlite3_value_int64(values[0]);
  const bool known = stack >= 0 && (*names)->has(static_cast<uint64_t>(stack));
  sqlite3_result_int(out,
                     known && (*names)->Matches(**matching, static_cast<uint32_t>(stack)) ? 1 : 0);
}

// What `text` says about a stack; NULL for numbers that are none.
template <typename Put>
void AboutStack(sqlite3_context* out, sqlite3_value* value, const Put& put) {
  if (IsNull(value)) return;
  const auto names = SourceOf(out)->Names();
  if (!names) return PutError(out, names.error().message);
  const int64_t stack = sqlite3_value_int64(value);
  if (stack < 0 || !(*names)->has(static_cast<uint64_t>(stack))) return;
  put(**names, static_cast<uint32_t>(stack));
}

void FunctionOf(sqlite3_context* out, int, sqlite3_value** values) {
  AboutStack(out, values[0], [&](const NamesInStacks& names, uint32_t stack) {
    PutLasting(out, names.function(stack));
  });
}

void ModuleOf(sqlite3_context* out, int, sqlite3_value** values) {
  AboutStack(out, values[0], [&](const NamesInStacks& names, uint32_t stack) {
    PutLastingOrNull(out, names.module(stack));
  });
}

void Collapsed(sqlite3_context* out, int, sqlite3_value** values) {
  AboutStack(out, values[0], [&](const NamesInStacks& names, uint32_t stack) {
    PutCopy(out, names.Collapsed(stack));
  });
}

void Human(sqlite3_context* out, int, sqlite3_value** values) {
  if (IsNull(values[0])) return;
  const double bytes = sqlite3_value_double(values[0]);
  PutCopy(out, (bytes < 0 ? "-" : "") + FormatBytes(std::fabs(bytes)));
}

void HumanTimeOf(sqlite3_context* out, int, sqlite3_value** values) {
  if (IsNull(values[0])) return;
  const double ns = sqlite3_value_double(values[0]);
  const double size = std::fabs(ns);
  PutCopy(out, (ns < 0 ? "-" : "") + trace::FormatMoment(size < 9e18 ? static_cast<uint64_t>(size)
                                                                     : uint64_t{INT64_MAX}));
}

void Seconds(sqlite3_context* out, int, sqlite3_value** values) {
  if (IsNull(values[0])) return;
  if (IsNumber(values[0])) {
    const double ns = sqlite3_value_double(values[0]) * 1e9;
    if (!(std::fabs(ns) < 9e18)) return PutError(out, "seconds(): the number is too large");
    return sqlite3_result_int64(out, std::llround(ns));
  }
  const auto span = trace::ParseDuration(TextOf(values[0]));
  if (!span) return PutError(out, span.error().message);
  Put(out, *span);
}

void Moment(sqlite3_context* out, int, sqlite3_value** values) {
  const auto moment = MomentOf(values[0], *SourceOf(out));
  if (!moment) return PutError(out, moment.error().message);
  if (*moment) Put(out, **moment);
}

void PowerOfTwo(sqlite3_context* out, int, sqlite3_value** values) {
  if (IsNull(values[0])) return;
  const int64_t value = sqlite3_value_int64(values[0]);
  sqlite3_result_int64(
      out, value <= 0 ? 0 : static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(value))));
}

// TEXT REGEXP PATTERN. The compiled pattern stays with the statement.
void Regexp(sqlite3_context* out, int, sqlite3_value** values) {
  if (IsNull(values[0]) || IsNull(values[1])) return;
  auto* compiled = static_cast<Regex*>(sqlite3_get_auxdata(out, 0));
  if (compiled != nullptr) {
    return sqlite3_result_int(out, compiled->Matches(TextOf(values[1])) ? 1 : 0);
  }
  auto regex = Regex::Compile(std::string(TextOf(values[0])));
  if (!regex) return PutError(out, regex.error().message);
  sqlite3_result_int(out, regex->Matches(TextOf(values[1])) ? 1 : 0);
  sqlite3_set_auxdata(out, 0, new Regex(*std::move(regex)),
                      [](void* data) { delete static_cast<Regex*>(data); });
}

// Nothing may be thrown through SQLite.
template <SqlFunction function>
void GuardedCall(sqlite3_context* out, int count, sqlite3_value** values) {
  try {
    function(out, count, values);
  } catch (const std::bad_alloc&) {
    sqlite3_result_error_nomem(out);
  } catch (const std::exception& error) {
    sqlite3_result_error(out, error.what(), -1);
  } catch (...) {
    sqlite3_result_error_code(out, SQLITE_INTERNAL);
  }
}

constexpr SqlOverload kOverloads[] = {
    {"live_at", GuardedCall<LiveAt>, kLiveAt},
    {"stack_contains", GuardedCall<StackContains>, kStackContains},
};

struct Registered {
  const char* name;
  int arguments;
  SqlFunction function;
};
constexpr Registered kFunctions[] = {
    {"live_at", 2, GuardedCall<LiveAt>},
    {"stack_contains", 2, GuardedCall<StackContains>},
    {"function_of", 1, GuardedCall<FunctionOf>},
    {"module_of", 1, GuardedCall<ModuleOf>},
    {"collapsed", 1, GuardedCall<Collapsed>},
    {"human", 1, GuardedCall<Human>},
    {"human_time", 1, GuardedCall<HumanTimeOf>},
    {"seconds", 1, GuardedCall<Seconds>},
    {"moment", 1, GuardedCall<Moment>},
    {"power_of_two", 1, GuardedCall<PowerOfTwo>},
    {"regexp", 2, GuardedCall<Regexp>},
    // In place of SQLite's own.
    {"instr", 2, GuardedCall<Instr>},
    {"replace", 3, GuardedCall<Replace>},
    {"trim", 1, GuardedCall<Trim>},
    {"trim", 2, GuardedCall<Trim>},
    {"ltrim", 1, GuardedCall<TrimLeft>},
    {"ltrim", 2, GuardedCall<TrimLeft>},
    {"rtrim", 1, GuardedCall<TrimRight>},
    {"rtrim", 2, GuardedCall<TrimRight>},
};

constexpr FunctionHelp kHelps[] = {
    {"live_at(T)", "in a condition on allocations: the block was there at that moment"},
    {"stack_contains(RE)",
     "the row's stack has a frame whose function, source file or module matches; also "
     "stack_contains(STACK, RE)"},
    {"TEXT REGEXP RE", "whether the text matches somewhere (RE2)"},
    {"function_of(STACK)", "the function that a stack is counted for"},
    {"module_of(STACK)", "its executable or library"},
    {"collapsed(STACK)", "all its frames, outermost first: main;f;g"},
    {"moment(TEXT)", "'peak', 'end', 'start', '1.5s', '40%' in nanoseconds"},
    {"seconds(X)", "'1.5s', '250ms', '12us' or a number of seconds in nanoseconds"},
    {"human(BYTES)", "12.3 MB"},
    {"human_time(NS)", "3.4ms"},
    {"power_of_two(N)", "the greatest power of two up to N, for histograms"},
};

}  // namespace

const SqlOverload* FindOverload(std::string_view name) {
  for (const SqlOverload& overload : kOverloads) {
    if (name == overload.name) return &overload;
  }
  return nullptr;
}

std::span<const FunctionHelp> FunctionHelps() { return kHelps; }

Status RegisterFunctions(sqlite3* db, QuerySource* source) {
  for (const Registered& f : kFunctions) {
    const int code = sqlite3_create_function_v2(
        db, f.name, f.arguments, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, source,
        f.function, nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) {
      return Fail(ErrorCode::kIo,
                  fmt::format("SQLite refused function {}: {}", f.name, sqlite3_errmsg(db)));
    }
  }
  return {};
}

}  // namespace heapgauge::query
