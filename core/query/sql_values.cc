#include "core/query/sql_values.h"

#include <cmath>
#include <cstring>
#include <string>

#include "core/trace/answer/trace_moment.h"

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

namespace {

struct Lifespan {
  uint64_t number;
  uint64_t birth_ns;
  uint64_t death_ns;
};

}  // namespace

void PutLifespan(const trace::Block& block, sqlite3_context* out) {
  const Lifespan span{block.number, block.birth_ns, block.death_ns};
  sqlite3_result_blob(out, &span, sizeof span, SQLITE_TRANSIENT);
}

std::optional<bool> LifespanContains(sqlite3_value* value, const ExactMoment& moment) {
  Lifespan span;
  if (sqlite3_value_type(value) != SQLITE_BLOB ||
      sqlite3_value_bytes(value) != static_cast<int>(sizeof span)) {
    return std::nullopt;
  }
  std::memcpy(&span, sqlite3_value_blob(value), sizeof span);
  return moment.HasBegun(span.number, span.birth_ns) &&
         !moment.HasEnded(span.number, span.death_ns);
}

Result<std::optional<uint64_t>> MomentOf(sqlite3_value* value, const QuerySource& source) {
  switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER: {
      const int64_t ns = sqlite3_value_int64(value);
      if (ns < 0) return std::nullopt;
      return static_cast<uint64_t>(ns);
    }
    case SQLITE_FLOAT: {
      const double ns = sqlite3_value_double(value);
      if (!(ns >= 0)) return std::nullopt;
      return ns < 9e18 ? static_cast<uint64_t>(ns) : uint64_t{INT64_MAX};
    }
    case SQLITE_TEXT: {
      HG_ASSIGN(const uint64_t ns, source.Moment(std::string(TextOf(value))));
      return ns;
    }
    default:
      return std::nullopt;
  }
}

Result<std::optional<ExactMoment>> ExactMomentOf(sqlite3_value* value, QuerySource* source) {
  const bool is_text = sqlite3_value_type(value) == SQLITE_TEXT;
  ExactMoment moment;
  if (is_text && source->trace() != nullptr) {
    if (TextOf(value) == "peak") {
      HG_ASSIGN(moment, source->Peak());
      return moment;
    }
    const trace::TraceFile& trace = *source->trace();
    HG_ASSIGN(const trace::TraceMoment asked,
              trace::MomentWithin(trace, std::string(TextOf(value))));
    HG_ASSIGN(moment, ExactMoment::Find(trace, asked));
    return moment;
  }
  HG_ASSIGN(const std::optional<uint64_t> time_ns, MomentOf(value, *source));
  if (!time_ns) return std::nullopt;
  moment.time_ns = *time_ns;
  return moment;
}

}  // namespace heapgauge::query
