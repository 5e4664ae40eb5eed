#include "core/query/result_table.h"

#include <algorithm>
#include <string_view>

#include "core/base/columns.h"
#include "core/base/text.h"

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
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const char c : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return text;
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

}  // namespace heapgauge::query
