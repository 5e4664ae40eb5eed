// SQL over a source: a connection to an SQLite that has our tables and functions, and can do
// nothing but read them.
//
//   HG_ASSIGN(auto query, Query::Open(source.get(), {}));
//   HG_TRY(query->Run("SELECT function, live_bytes FROM stacks", &writer));
//
// Statements may come from anybody. There is no file behind the connection; an authorizer lets
// SELECT and functions pass and refuses all else; memory, time, the length of values and of the
// text are bounded, and nothing is spilled to disk.
//
// One thread; only Interrupt may be called from others, and from a signal handler.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/base/sinks.h"
#include "core/query/source.h"

namespace heapgauge::query {

// A value of a result.
struct Value {
  enum class Kind : uint8_t { kNull, kInteger, kReal, kText, kBytes } kind = Kind::kNull;
  int64_t integer = 0;
  double real = 0;
  std::string_view text;  // of kText and kBytes, valid during the call
};

// Who gets the rows. Each statement that has columns begins a result of its own.
class ResultSink {
 public:
  virtual ~ResultSink() = default;
  virtual Status Begin(const std::vector<std::string>& columns) = 0;
  // Returns whether more rows are wanted.
  virtual Result<bool> Row(const std::vector<Value>& values) = 0;
  virtual Status End() = 0;
};

struct QueryOptions {
  double seconds = 0;                  // a run may take; 0: no limit
  uint64_t memory_bytes = 2ull << 30;  // that SQLite may take, for the whole process
  ProgressSink* progress = nullptr;
};

class Query {
 public:
  // The source must outlive this.
  static Result<std::unique_ptr<Query>> Open(QuerySource* source, const QueryOptions& options);
  virtual ~Query() = default;

  // Runs all statements of a text. Errors are one line that says what and where.
  virtual Status Run(std::string_view sql, ResultSink* sink) = 0;

  // Ends what runs, with an error; if nothing does, what runs next. Async-signal-safe.
  virtual void Interrupt() = 0;
};

}  // namespace heapgauge::query
