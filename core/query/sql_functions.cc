#include "core/query/sql_functions.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <exception>
#include <new>

#include "core/base/regex.h"
#include "core/base/text.h"
#include "core/query/lifespan.h"
#include "core/query/source.h"
#include "core/query/sql_values.h"
#include "core/query/text_functions.h"
#include "core/trace/answer/trace_moment.h"

namespace heapgauge::query {
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
