#include "core/query/result_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "core/base/encode.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/report/csv.h"

namespace heapgauge::query {
namespace {

constexpr size_t kRowsToLookAt = 5000;
constexpr size_t kBytesToLookAt = 16 << 20;
constexpr size_t kLeastWidth = 8;  // of a text that is cut
constexpr std::string_view kGap = "  ";

// "12.3 MB", "850ms", "-4%": what human() and its like make of numbers.
bool LooksLikeNumber(std::string_view text) {
  if (text.size() > 14) return false;
  if (text.starts_with('-')) text.remove_prefix(1);
  if (text.empty() || text[0] < '0' || text[0] > '9') return false;
  size_t i = 0;
  while (i < text.size() &&
         ((text[i] >= '0' && text[i] <= '9') || text[i] == '.' || text[i] == ',')) {
    ++i;
  }
  const size_t letters = text.size() - i;
  return letters <= 4 || text.ends_with('s') || text.ends_with('h');
}

std::string CutCell(const std::string& text, size_t width, bool utf8) {
  if (DisplayWidth(text) <= width) return text;
  if (!utf8) return CutTo(text, width);
  return std::string(FirstColumns(text, width - 1)) + "\u2026";
}

}  // namespace

Status ResultTable::Begin(const std::vector<std::string>& columns) {
  names_.clear();
  for (const std::string& column : columns) names_.push_back(Printable(column));
  looks_.assign(names_.size(), {});
  waiting_.clear();
  waiting_bytes_ = 0;
  begun_ = false;
  if (!options_.header) return {};
  for (size_t i = 0; i < names_.size(); ++i) looks_[i].width = DisplayWidth(names_[i]);
  return {};
}

Status ResultTable::Row(const std::vector<Value>& values) {
  std::vector<std::string> cells;
  cells.reserve(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const Value& value = values[i];
    const bool null = value.kind == Value::Kind::kNull;
    cells.push_back(null ? "-" : Printable(ValueText(value)));
    if (begun_) continue;
    ColumnLook& look = looks_[i];
    look.width = std::max(look.width, DisplayWidth(cells.back()));
    waiting_bytes_ += cells.back().size();
    if (null) continue;
    if (value.kind == Value::Kind::kBytes ||
        (value.kind == Value::Kind::kText && !LooksLikeNumber(cells.back()))) {
      look.right = false;
    }
  }
  if (begun_) return WriteLine(cells);
  waiting_.push_back(std::move(cells));
  if (waiting_.size() < kRowsToLookAt && waiting_bytes_ < kBytesToLookAt) return {};
  return WriteWaiting();
}

Status ResultTable::End() { return begun_ ? Status() : WriteWaiting(); }

// Takes columns from the widest texts until the table fits. Numbers are never cut.
void ResultTable::Fit() {
  if (options_.width == 0) return;
  for (;;) {
    size_t total = looks_.empty() ? 0 : kGap.size() * (looks_.size() - 1);
    size_t widest = looks_.size();
    size_t next = kLeastWidth;  // the second widest
    for (size_t i = 0; i < looks_.size(); ++i) {
      total += looks_[i].width;
      if (looks_[i].right || looks_[i].width <= kLeastWidth) continue;
      if (widest == looks_.size() || looks_[i].width > looks_[widest].width) {
        if (widest != looks_.size()) next = std::max(next, looks_[widest].width);
        widest = i;
      } else {
        next = std::max(next, looks_[i].width);
      }
    }
    if (total <= options_.width || widest == looks_.size()) return;
    const size_t over = total - options_.width;
    size_t& width = looks_[widest].width;
    // At once to what is needed, or to the next one, from where both shrink.
    const size_t floor = next < width ? next : width - 1;
    width = width > over ? std::max(floor, width - over) : floor;
    width = std::max(width, kLeastWidth);
  }
}

Status ResultTable::WriteWaiting() {
  begun_ = true;
  Fit();
  if (options_.header) HG_TRY(WriteLine(names_));
  for (const std::vector<std::string>& cells : waiting_) HG_TRY(WriteLine(cells));
  waiting_.clear();
  return {};
}

Status ResultTable::WriteLine(const std::vector<std::string>& cells) {
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (i != 0) line += kGap;
    const ColumnLook& look = looks_[i];
    const std::string cell =
        look.right || options_.width == 0 ? cells[i] : CutCell(cells[i], look.width, options_.utf8);
    const bool last = i + 1 == cells.size();
    line += look.right ? PadLeft(cell, look.width) : last ? cell : PadRight(cell, look.width);
  }
  line += '\n';
  return out_->Write(line);
}

std::string Hexadecimal(std::string_view bytes) {
  return HexText({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
}

std::string ValueText(const Value& value) {
  switch (value.kind) {
    case Value::Kind::kInteger:
      return std::to_string(value.integer);
    case Value::Kind::kReal:
      // As short as can be, and whole numbers still as what they are.
      return std::isfinite(value.real) ? fmt::format("{}", value.real) : "";
    case Value::Kind::kText:
      return std::string(value.text);
    case Value::Kind::kBytes:
      return Hexadecimal(value.text);
    default:
      return "";
  }
}

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
