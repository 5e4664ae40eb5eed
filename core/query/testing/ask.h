// For tests of queries: a statement in, its rows as text out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/query/query.h"
#include "core/query/result_writer.h"

namespace heapgauge::query::testing {

// Keeps all rows, each value as text and NULL as "NULL".
class KeptRows final : public ResultSink {
 public:
  Status Begin(const std::vector<std::string>& names) override {
    columns = names;
    ++results;
    return {};
  }
  Result<bool> Row(const std::vector<Value>& values) override {
    std::vector<std::string>& row = rows.emplace_back();
    for (const Value& value : values) {
      row.push_back(value.kind == Value::Kind::kNull ? "NULL" : ValueText(value));
    }
    return true;
  }
  Status End() override { return {}; }

  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
  int results = 0;
};

class Asker {
 public:
  explicit Asker(std::unique_ptr<QuerySource> source, QueryOptions options = {})
      : source_(std::move(source)), query_(*Query::Open(source_.get(), options)) {}

  QuerySource& source() { return *source_; }
  Query& query() { return *query_; }

  // Rows with commas between values, or "error: ...".
  std::vector<std::string> Ask(std::string_view sql) {
    KeptRows kept;
    const Status status = query_->Run(sql, &kept);
    if (!status) return {"error: " + status.error().message};
    std::vector<std::string> lines;
    for (const auto& row : kept.rows) {
      std::string& line = lines.emplace_back();
      for (const std::string& value : row) line += (line.empty() ? "" : ",") + value;
    }
    return lines;
  }
  // The only value, or the error.
  std::string One(std::string_view sql) {
    const std::vector<std::string> lines = Ask(sql);
    return lines.size() == 1 ? lines[0] : std::to_string(lines.size()) + " rows";
  }

 private:
  std::unique_ptr<QuerySource> source_;
  std::unique_ptr<Query> query_;
};

}  // namespace heapgauge::query::testing
