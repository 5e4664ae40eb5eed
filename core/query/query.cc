#include "core/query/query.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <atomic>
#include <new>

#include "core/base/text.h"
#include "core/query/schema.h"
#include "core/query/sql_functions.h"
#include "core/query/sql_text.h"

namespace heapgauge::query {

std::vector<std::shared_ptr<Table>> MakeAllTables(QuerySource* source) {
  std::vector<std::shared_ptr<Table>> tables = {
      MakeAllocationsTable(source), MakeStacksTable(source), MakeFramesTable(source),
      MakeSnapshotsTable(source), MakeTimelineTable(source)};
  for (auto& table : MakeSimpleTables(source)) tables.push_back(std::move(table));
  return tables;
}

namespace {

struct Limit {
  int which;
  int most;
};
// Short enough that LIKE, which looks at no clock, is done with a text and a pattern in seconds.
constexpr Limit kLimits[] = {
    {SQLITE_LIMIT_LENGTH, 4 << 20},           {SQLITE_LIMIT_SQL_LENGTH, 1 << 20},
    {SQLITE_LIMIT_EXPR_DEPTH, 500},           {SQLITE_LIMIT_COMPOUND_SELECT, 100},
    {SQLITE_LIMIT_FUNCTION_ARG, 100},         {SQLITE_LIMIT_ATTACHED, 0},
    {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000}, {SQLITE_LIMIT_VARIABLE_NUMBER, 0},
    {SQLITE_LIMIT_TRIGGER_DEPTH, 1},          {SQLITE_LIMIT_WORKER_THREADS, 0},
};

// What a statement that is refused would have done.
const char* ActionName(int action) {
  switch (action) {
    case SQLITE_ATTACH:
      return "ATTACH";
    case SQLITE_DETACH:
      return "DETACH";
    case SQLITE_PRAGMA:
      return "PRAGMA";
    case SQLITE_TRANSACTION:
    case SQLITE_SAVEPOINT:
      return "a transaction";
    case SQLITE_INSERT:
      return "INSERT, or making something";
    case SQLITE_UPDATE:
      return "UPDATE";
    case SQLITE_DELETE:
      return "DELETE, or dropping something";
    case SQLITE_ANALYZE:
      return "ANALYZE";
    case SQLITE_REINDEX:
      return "REINDEX";
    case SQLITE_ALTER_TABLE:
      return "ALTER TABLE";
    default:
      return "CREATE, DROP or the like";
  }
}

class SqliteQuery final : public Query {
 public:
  SqliteQuery(QuerySource* source, const QueryOptions& options)
      : source_(source), options_(options) {}
  ~SqliteQuery() override { sqlite3_close(db_); }

  Status Connect() {
    if (sqlite3_open_v2(":memory:", &db_,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY |
                            SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE,
                        nullptr) != SQLITE_OK) {
      return Fail(ErrorCode::kIo, "SQLite cannot be used: out of memory");
    }
    // Sorting and sub-queries stay in memory, within its bound.
    sqlite3_exec(db_, "PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF", nullptr, nullptr,
                 nullptr);
    sqlite3_db_config(db_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(db_, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, nullptr);
    // A name in double quotes that is not there is a mistake, not a text.
    sqlite3_db_config(db_, SQLITE_DBCONFIG_DQS_DML, 0, nullptr);
    sqlite3_db_config(db_, SQLITE_DBCONFIG_DQS_DDL, 0, nullptr);
    for (const Limit& limit : kLimits) sqlite3_limit(db_, limit.which, limit.most);
    sqlite3_hard_heap_limit64(static_cast<sqlite3_int64>(options_.memory_bytes));
    for (const auto& table : MakeAllTables(source_)) {
      const bool blocks = std::string_view(table->name()) == "blocks";
      HG_TRY(Register(db_, table, blocks ? "samples" : nullptr));
    }
    HG_TRY(RegisterFunctions(db_, source_));
    sqlite3_set_authorizer(db_, Authorize, this);
    sqlite3_progress_handler(db_, 10000, IsOver, this);
    ForgetInterrupt();  // of another query of the source
    return {};
  }

  Status Run(std::string_view sql, ResultSink* sink) override {
    const Interruptible until_the_end(this);
    const CompletedSql completed(sql);
    source_->SetProgress(options_.progress);
    source_->SetDeadline(options_.seconds);
    const char* at = completed.text().c_str();
    const char* end = at + completed.text().size();
    bool any = false;
    while (at < end) {
      sqlite3_stmt* raw = nullptr;
      const char* tail = at;
      refused_.clear();
      if (interrupted_.load()) return Interrupted();
      const int code = sqlite3_prepare_v2(db_, at, static_cast<int>(end - at), &raw, &tail);
      const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement(raw, sqlite3_finalize);
      if (code != SQLITE_OK)
        return Explain(completed, static_cast<size_t>(at - &completed.text()[0]));
      if (statement != nullptr) {
        any = true;
        if (sqlite3_stmt_readonly(raw) == 0) return Refuse("a statement that writes");
        HG_TRY(RunOne(raw, completed, static_cast<size_t>(at - &completed.text()[0]), sink));
      }
      // A text with a NUL in it ends there.
      at = tail > at ? tail : end;
    }
    if (!any) {
      return Fail(ErrorCode::kInvalidArgument,
                  "there is no statement in it; for example: SELECT function, live_bytes FROM "
                  "stacks ORDER BY live_bytes DESC LIMIT 10");
    }
    return {};
  }

  void Interrupt() override {
    interrupted_.store(true);
    source_->stop().store(true);
  }

 private:
  // An interrupt is over when the run is, not when it begins: it may have come before.
  class Interruptible {
   public:
    explicit Interruptible(SqliteQuery* query) : query_(query) {}
    ~Interruptible() { query_->ForgetInterrupt(); }
    Interruptible(const Interruptible&) = delete;
    Interruptible& operator=(const Interruptible&) = delete;

   private:
    SqliteQuery* query_;
  };

  void ForgetInterrupt() {
    interrupted_ = false;
    source_->stop() = false;
  }

  static int Authorize(void* self, int action, const char* first, const char* second,
                       const char* /*database*/, const char* /*trigger*/) {
    auto* query = static_cast<SqliteQuery*>(self);
    if (query->source_->declaring) return SQLITE_OK;
    switch (action) {
      case SQLITE_SELECT:
      case SQLITE_READ:
      case SQLITE_RECURSIVE:
        return SQLITE_OK;
      case SQLITE_FUNCTION:
        if (second != nullptr && std::string_view(second) == "load_extension") {
          query->refused_ = "load_extension";
          return SQLITE_DENY;
        }
        return SQLITE_OK;
      default:
        if (query->refused_.empty()) {
          query->refused_ = ActionName(action);
          if (action == SQLITE_PRAGMA && first != nullptr) {
            query->refused_ += std::string(" ") + first;
          }
        }
        return SQLITE_DENY;
    }
  }

  // SQLite asks from time to time whether to go on.
  static int IsOver(void* self) {
    return static_cast<SqliteQuery*>(self)->source_->IsOver() ? 1 : 0;
  }

  Status RunOne(sqlite3_stmt* statement, const CompletedSql& sql, size_t offset, ResultSink* sink) {
    const int count = sqlite3_column_count(statement);
    if (count == 0) return Refuse("a statement that has no result");
    std::vector<std::string> columns;
    size_t behind = offset;  // the last expression
    for (int i = 0; i < count; ++i) {
      const char* name = sqlite3_column_name(statement, i);
      columns.push_back(NameAsWritten(sql, name == nullptr ? "" : name, &behind));
    }
    std::vector<Value> values(static_cast<size_t>(count));
    for (bool begun = false;; begun = true) {
      const int code = sqlite3_step(statement);
      // Rows that are much work to show may be little work to find.
      if ((code != SQLITE_ROW && code != SQLITE_DONE) ||
          (code == SQLITE_ROW && source_->IsOver())) {
        if (begun) HG_TRY(sink->End());
        return Explain(sql, offset);
      }
      // What fails at once has no result, not an empty one.
      if (!begun) HG_TRY(sink->Begin(columns));
      if (code == SQLITE_DONE) break;
      for (int i = 0; i < count; ++i) values[static_cast<size_t>(i)] = ValueAt(statement, i);
      HG_ASSIGN(const bool more, sink->Row(values));
      if (!more) break;
    }
    return sink->End();
  }

  // SQLite calls an expression by its text, in which calls may have been completed.
  static std::string NameAsWritten(const CompletedSql& sql, std::string_view name, size_t* behind) {
    if (name.find('(') == std::string_view::npos) return std::string(name);
    const size_t at = sql.text().find(name, *behind);
    if (at == std::string::npos) return std::string(name);
    *behind = at + name.size();
    return std::string(sql.OriginalText(at, *behind));
  }

  static Value ValueAt(sqlite3_stmt* statement, int column) {
    Value value;
    switch (sqlite3_column_type(statement, column)) {
      case SQLITE_INTEGER:
        value.kind = Value::Kind::kInteger;
        value.integer = sqlite3_column_int64(statement, column);
        break;
      case SQLITE_FLOAT:
        value.kind = Value::Kind::kReal;
        value.real = sqlite3_column_double(statement, column);
        break;
      case SQLITE_TEXT:
        value.kind = Value::Kind::kText;
        value.text = {reinterpret_cast<const char*>(sqlite3_column_text(statement, column)),
                      static_cast<size_t>(sqlite3_column_bytes(statement, column))};
        break;
      case SQLITE_BLOB: {
        value.kind = Value::Kind::kBytes;
        const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement, column));
        value.text = {bytes == nullptr ? "" : bytes,
                      static_cast<size_t>(sqlite3_column_bytes(statement, column))};
        break;
      }
      default:
        break;
    }
    return value;
  }

  static tl::unexpected<Error> Interrupted() {
    return Fail(ErrorCode::kUnavailable, "the query was interrupted");
  }

  static tl::unexpected<Error> Refuse(const std::string& what) {
    return Fail(ErrorCode::kPermission,
                what + " is refused: queries only read (SELECT, WITH, VALUES)");
  }

  // What went wrong, with the place in the text if SQLite knows it.
  Status Explain(const CompletedSql& sql, size_t statement_offset) {
    if (interrupted_.load()) return Interrupted();
    if (source_->timed_out()) {
      return Fail(ErrorCode::kUnavailable,
                  fmt::format("the query took more than {} s and was ended", options_.seconds));
    }
    const int code = sqlite3_errcode(db_);
    if (!refused_.empty() && (code == SQLITE_AUTH || code == SQLITE_ERROR)) {
      return Refuse(refused_);
    }
    if (code == SQLITE_NOMEM) {
      return Fail(ErrorCode::kUnavailable,
                  fmt::format("the query needs more than {} of memory; ask for fewer rows, or "
                              "group them before sorting or joining",
                              FormatBytes(static_cast<double>(options_.memory_bytes))));
    }
    const int offset = sqlite3_error_offset(db_);
    std::string message = Printable(sqlite3_errmsg(db_));
    if (message == "no such column: lifespan" || message.ends_with(".lifespan")) {
      message = "live_at(MOMENT) is about rows of allocations, which are not here";
    }
    if (offset < 0) return Fail(ErrorCode::kInvalidArgument, message);
    const size_t place = sql.OriginalOffset(statement_offset + static_cast<size_t>(offset));
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("{} ({} of the query)", message, PlaceInText(sql.original(), place)),
                place);
  }

  QuerySource* source_;
  const QueryOptions options_;
  sqlite3* db_ = nullptr;
  std::atomic<bool> interrupted_ = false;
  std::string refused_;  // what the authorizer said no to
};

}  // namespace

Result<std::unique_ptr<Query>> Query::Open(QuerySource* source, const QueryOptions& options) {
  auto query = std::make_unique<SqliteQuery>(source, options);
  HG_TRY(query->Connect());
  return query;
}

}  // namespace heapgauge::query
