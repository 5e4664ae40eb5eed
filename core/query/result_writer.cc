#include "core/query/result_writer.h"

#include <fmt/format.h>

#include <cmath>

#include "core/base/json.h"
#include "core/report/csv.h"

namespace heapgauge::query {
namespace {

// Counts rows, and parts results by an empty line.
class LimitedWriter : public ResultWriter {
 public:
  LimitedWriter(const ResultOptions& options, TextSink* out) : options_(options), out_(out) {}

  Result<bool> Row(const std::vector<Value>& values) final {
    if (options_.limit != 0 && rows_ == options_.limit) {
      cut_ = true;
      return false;
    }
    ++rows_;
    HG_TRY(WriteRow(values));
    return true;
  }
  bool cut() const final { return cut_; }
  Status Finish() override { return {}; }

 protected:
  virtual Status WriteRow(const std::vector<Value>& values) = 0;

  void CountFrom0() { rows_ = 0; }
  uint64_t rows() const { return rows_; }  // with the one that is being written

  const ResultOptions options_;
  TextSink* out_;

 private:
  uint64_t rows_ = 0;
  bool cut_ = false;
};

class TableWriter final : public LimitedWriter {
 public:
  TableWriter(const ResultOptions& options, TextSink* out)
      : LimitedWriter(options, out), table_(options, out) {}

  Status Begin(const std::vector<std::string>& columns) override {
    if (!first_) HG_TRY(out_->Write("\n"));
    first_ = false;
    CountFrom0();
    return table_.Begin(columns);
  }
  Status WriteRow(const std::vector<Value>& values) override { return table_.Row(values); }
  Status End() override { return table_.End(); }

 private:
  ResultTable table_;
  bool first_ = true;
};

class CsvWriter final : public LimitedWriter {
 public:
  using LimitedWriter::LimitedWriter;

  Status Begin(const std::vector<std::string>& columns) override {
    if (!first_) HG_TRY(out_->Write("\n"));
    first_ = false;
    CountFrom0();
    if (!options_.header) return {};
    Csv csv;
    for (const std::string& column : columns) csv.Text(column);
    csv.EndRow();
    return out_->Write(csv.text());
  }
  Status WriteRow(const std::vector<Value>& values) override {
    Csv csv;
    for (const Value& value : values) csv.Text(ValueText(value));
    csv.EndRow();
    return out_->Write(csv.text());
  }
  Status End() override { return {}; }

 private:
  bool first_ = true;
};

class JsonWriter final : public LimitedWriter {
 public:
  using LimitedWriter::LimitedWriter;

  Status Begin(const std::vector<std::string>& columns) override {
    CountFrom0();
    names_.clear();
    for (const std::string& column : columns) names_.push_back(Unused(column));
    const char* const before = !options_.several ? "" : first_ ? "[\n" : ",\n";
    first_ = false;
    return out_->Write(std::string(before) + "[");
  }
  Status WriteRow(const std::vector<Value>& values) override {
    Json row = Json::Object();
    for (size_t i = 0; i < values.size(); ++i) row[names_[i]] = ToJson(values[i]);
    return out_->Write((rows() == 1 ? "\n" : ",\n") + row.Line());
  }
  Status End() override {
    return out_->Write(std::string(rows() == 0 ? "]" : "\n]") + (options_.several ? "" : "\n"));
  }
  Status Finish() override { return options_.several && !first_ ? out_->Write("\n]\n") : Status(); }

 private:
  // Two columns may have one name, members of an object may not.
  std::string Unused(const std::string& name) const {
    std::string unused = name;
    for (int i = 2; std::find(names_.begin(), names_.end(), unused) != names_.end(); ++i) {
      unused = fmt::format("{}_{}", name, i);
    }
    return unused;
  }

  static Json ToJson(const Value& value) {
    switch (value.kind) {
      case Value::Kind::kInteger:
        return static_cast<long long>(value.integer);
      case Value::Kind::kReal:
        return value.real;
      case Value::Kind::kText:
        return value.text;
      case Value::Kind::kBytes:
        return Hexadecimal(value.text);
      default:
        return nullptr;
    }
  }

  std::vector<std::string> names_;
  bool first_ = true;
};

}  // namespace

std::unique_ptr<ResultWriter> MakeResultWriter(const ResultOptions& options, TextSink* out) {
  switch (options.form) {
    case ResultForm::kCsv:
      return std::make_unique<CsvWriter>(options, out);
    case ResultForm::kJson:
      return std::make_unique<JsonWriter>(options, out);
    default:
      return std::make_unique<TableWriter>(options, out);
  }
}

}  // namespace heapgauge::query
