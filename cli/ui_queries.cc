#include "cli/ui_queries.h"

#include <mutex>
#include <string>
#include <utility>

#include "cli/statement_turns.h"
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
    StatementTurns::Turn turn(&turns_, statement.run);
    HG_TRY(turn.Wait());
    const Tables tables = TablesOf(source, profile);
    query::QueryOptions options;
    options.seconds = static_cast<double>(statement.seconds);
    options.memory_bytes = kMemory;
    HG_ASSIGN(const auto query, query::Query::Open(tables.source.get(), options));
    Answer answer;
    Collected sink(statement.rows, &answer);
    const Running running(&turn, query.get());
    HG_TRY(query->Run(statement.sql, &sink));
    return answer;
  }

  // Does not wait for statements.
  Result<Schema> SchemaOf(endpoint::api::Source* source,
                          const std::shared_ptr<const Profile>& profile) override {
    return *TablesOf(source, profile).schema;
  }

  bool Cancel(const std::string& run) override { return turns_.Cancel(run); }
  void EndAll() override { turns_.EndAll(); }

 private:
  // Says what runs as long as it lives.
  class Running {
   public:
    Running(StatementTurns::Turn* turn, query::Query* query) : turn_(turn) { turn_->Set(query); }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;
    ~Running() { turn_->Set(nullptr); }

   private:
    StatementTurns::Turn* turn_;
  };

  struct Tables {
    std::shared_ptr<const void> of;         // the trace or profile
    std::shared_ptr<query::QuerySource> source;  // for who has the turn
    std::shared_ptr<const Schema> schema;
  };

  Tables TablesOf(endpoint::api::Source* source, const std::shared_ptr<const Profile>& profile) {
    const std::string id = source->facts().id;
    const auto trace = source->trace();
    const std::shared_ptr<const void> of =
        trace != nullptr ? std::shared_ptr<const void>(trace) : profile;
    const std::lock_guard lock(tables_mutex_);
    if (const Tables* known = tables_.Find(id); known != nullptr && known->of == of) return *known;
    std::shared_ptr<query::QuerySource> made =
        trace != nullptr
            ? query::QuerySource::OfTrace(trace, [this](Profile* p) { NameLocations(symbols_, p); })
            : query::QuerySource::OfProfile(*profile);
    // While nobody else uses it; it does not change.
    query::SchemaParts parts = query::PartsOfSchema(made.get());
    auto schema = std::make_shared<const Schema>(
        Schema{query::SchemaText(made.get()), std::move(parts.tables), std::move(parts.functions)});
    return tables_.Keep(id, {of, std::move(made), std::move(schema)});
  }

  const SymbolOptions symbols_;
  StatementTurns turns_;
  std::mutex tables_mutex_;
  endpoint::api::Recent<Tables> tables_{4};
};

}  // namespace

std::shared_ptr<Queries> MakeQueries(const SymbolOptions& symbols) {
  return std::make_shared<SqliteQueries>(symbols);
}

}  // namespace heapgauge::cli
