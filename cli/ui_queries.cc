#include "cli/ui_queries.h"

#include <mutex>
#include <string>
#include <utility>

#include "core/query/query.h"
#include "core/query/result_writer.h"
#include "core/query/schema.h"
#include "endpoint/api/recent.h"

namespace heapgauge::cli {
namespace {

using endpoint::api::Queries;

constexpr uint64_t kMemory = uint64_t{1} << 30;
constexpr size_t kMostText = 100'000;  // of one value

Json JsonOf(const query::Value& value) {
  switch (value.kind) {
    case query::Value::Kind::kNull:
      return nullptr;
    case query::Value::Kind::kInteger:
      return static_cast<long long>(value.integer);
    case query::Value::Kind::kReal:
      return value.real;
    case query::Value::Kind::kText:
      return value.text.substr(0, kMostText);
    case query::Value::Kind::kBytes:
      break;
  }
  return query::ValueText(value);
}

// Keeps the last result.
class Collected final : public query::ResultSink {
 public:
  Collected(uint64_t rows, Queries::Answer* answer) : rows_(rows), answer_(answer) {}

  Status Begin(const std::vector<std::string>& columns) override {
    *answer_ = {};
    answer_->columns = columns;
    count_ = 0;
    bytes_ = 0;
    return {};
  }
  Result<bool> Row(const std::vector<query::Value>& values) override {
    for (const query::Value& value : values) bytes_ += value.text.size() + kOther;
    if (count_ == rows_ || bytes_ > kMost) {
      answer_->cut = true;
      return false;
    }
    ++count_;
    Json row = Json::Array();
    for (const query::Value& value : values) row.Add(JsonOf(value));
    answer_->rows.Add(std::move(row));
    return true;
  }
  Status End() override { return {}; }

 private:
  static constexpr uint64_t kMost = 32 << 20;  // of an answer
  static constexpr uint64_t kOther = 16;       // about what a value takes beside its text
  const uint64_t rows_;
  Queries::Answer* answer_;
  uint64_t count_ = 0;
  uint64_t bytes_ = 0;
};

class SqliteQueries final : public Queries {
 public:
  explicit SqliteQueries(SymbolOptions symbols) : symbols_(std::move(symbols)) {}

  Result<Answer> Run(endpoint::api::Source* source, const std::shared_ptr<const Profile>& profile,
                     const Statement& statement) override {
    const std::lock_guard lock(mutex_);
    query::QueryOptions options;
    options.seconds = static_cast<double>(statement.seconds);
    options.memory_bytes = kMemory;
    HG_ASSIGN(const auto query, query::Query::Open(TablesOf(source, profile), options));
    Answer answer;
    Collected sink(statement.rows, &answer);
    const Running running(this, statement.run, query.get());
    HG_TRY(query->Run(statement.sql, &sink));
    return answer;
  }

  Result<Schema> SchemaOf(endpoint::api::Source* source,
                          const std::shared_ptr<const Profile>& profile) override {
    const std::lock_guard lock(mutex_);
    query::Source* tables = TablesOf(source, profile);
    query::SchemaParts parts = query::PartsOfSchema(tables);
    return Schema{query::SchemaText(tables), std::move(parts.tables), std::move(parts.functions)};
  }

  bool Cancel(const std::string& run) override {
    const std::lock_guard lock(running_mutex_);
    if (running_ == nullptr || running_run_ != run) return false;
    running_->Interrupt();
    return true;
  }

 private:
  // Says what runs as long as it lives.
  class Running {
   public:
    Running(SqliteQueries* queries, const std::string& run, query::Query* query)
        : queries_(queries) {
      Set(run, query);
    }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;
    ~Running() { Set("", nullptr); }

   private:
    void Set(const std::string& run, query::Query* query) {
      const std::lock_guard lock(queries_->running_mutex_);
      queries_->running_ = query;
      queries_->running_run_ = run;
    }
    SqliteQueries* queries_;
  };

  struct Tables {
    std::shared_ptr<const void> of;  // the trace or profile
    std::shared_ptr<query::Source> source;
  };

  query::Source* TablesOf(endpoint::api::Source* source,
                          const std::shared_ptr<const Profile>& profile) {
    const std::string id = source->facts().id;
    const auto trace = source->trace();
    const std::shared_ptr<const void> of =
        trace != nullptr ? std::shared_ptr<const void>(trace) : profile;
    if (const Tables* known = tables_.Find(id); known != nullptr && known->of == of) {
      return known->source.get();
    }
    std::shared_ptr<query::Source> made =
        trace != nullptr
            ? query::Source::OfTrace(trace, [this](Profile* p) { NameLocations(symbols_, p); })
            : query::Source::OfProfile(*profile);
    return tables_.Keep(id, {of, std::move(made)}).source.get();
  }

  const SymbolOptions symbols_;
  std::mutex mutex_;  // one statement at a time
  std::mutex running_mutex_;
  query::Query* running_ = nullptr;
  std::string running_run_;
  endpoint::api::Recent<Tables> tables_{4};
};

}  // namespace

std::shared_ptr<Queries> MakeQueries(const SymbolOptions& symbols) {
  return std::make_shared<SqliteQueries>(symbols);
}

}  // namespace heapgauge::cli
