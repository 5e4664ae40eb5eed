// Tables of ours as SQLite sees them: the C interface of virtual tables once, behind two small
// classes. A Table says which columns it has and which conditions it can use; a Cursor walks rows.
//
// SQLite asks a table how it would answer a statement with some set of conditions, picks the
// cheapest way for the whole statement, and hands over the values when it runs. A table may use a
// condition to skip rows without being exact about it, since SQLite looks at each row again; only
// where Exact() says so it does not.
//
// Tables belong to the connection they were registered with. One thread.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/query/sql_functions.h"
#include "core/query/sql_values.h"

namespace heapgauge::query {

class QuerySource;

struct Column {
  const char* name;
  const char* type;     // INTEGER, REAL, TEXT
  const char* meaning;  // for people
  bool hidden = false;  // not in SELECT *: a parameter, or something for functions alone
};

// A condition that SQLite does not have itself, beside those of sql_functions.h: "is one of".
inline constexpr int kOneOf = 1000;

// `column` compared by `op` (SQLITE_INDEX_CONSTRAINT_*, or one of those above) with a value that
// comes later.
struct Term {
  int column = 0;
  int op = 0;
};

// One way to walk a table.
struct Scan {
  uint64_t columns = ~uint64_t{0};  // that are looked at, bit 63: 63 and all behind it
  std::vector<Term> terms;
  std::vector<int> group_by;  // rows that are equal in these shall be side by side

  bool uses(int column) const { return (columns >> (column < 63 ? column : 63) & 1) != 0; }
  const Term* Find(int column, int op) const;
  // A hidden column decides which rows there are, and this scan is not told what it is asked for:
  // of an OR, each side knows. Never the way to take.
  bool misses(int column) const {
    return uses(column) && Find(column, SQLITE_INDEX_CONSTRAINT_EQ) == nullptr;
  }
};

struct Price {
  double cost = 1e6;
  double rows = 1e6;
  bool groups = false;  // Scan::group_by will be obeyed

  static constexpr double kLast = 1e15;  // the cost of what is only done if there is no other way
};

// The id of a row, below 2^32, of a table that is another one for each question: a moment, a step.
inline int64_t RowIdOf(uint64_t question, uint64_t row) {
  return static_cast<int64_t>((question * 0x9e3779b97f4a7c15 & ~uint64_t{UINT32_MAX}) ^ row);
}

// What a hidden column was asked for. SQLite may look at the column again, and then must find that.
class AskedValue {
 public:
  void Keep(const sqlite3_value* value) { kept_.reset(sqlite3_value_dup(value)); }
  void Forget() { kept_.reset(); }
  // False if it was not asked for.
  bool Put(sqlite3_context* out) const {
    if (kept_ == nullptr) return false;
    sqlite3_result_value(out, kept_.get());
    return true;
  }

 private:
  struct Free {
    void operator()(sqlite3_value* value) const { sqlite3_value_free(value); }
  };
  std::unique_ptr<sqlite3_value, Free> kept_;
};

class Cursor {
 public:
  virtual ~Cursor() = default;
  // Goes to the first row. `values` are those of scan.terms, and are gone afterwards.
  virtual Status Start(const Scan& scan, std::span<sqlite3_value*> values) = 0;
  virtual Status Next() = 0;
  virtual bool at_end() const = 0;
  virtual void Get(int column, sqlite3_context* out) = 0;
  // SQLite takes rows of two scans with the same id for one and the same row, in an OR.
  virtual int64_t row_id() const = 0;
};

class Table {
 public:
  // `source` must outlive the table.
  Table(QuerySource* source, const char* name, const char* meaning, std::vector<Column> columns)
      : source_(source), name_(name), meaning_(meaning), columns_(std::move(columns)) {}
  virtual ~Table() = default;

  QuerySource* source() const { return source_; }
  const char* name() const { return name_; }
  const char* meaning() const { return meaning_; }
  const std::vector<Column>& columns() const { return columns_; }

  // An error tells why this table cannot be had from this source.
  virtual Status Available() const { return {}; }
  virtual bool Accepts(const Term&) const { return false; }
  virtual bool Exact(const Term&) const { return false; }
  virtual Price PriceOf(const Scan& scan) const = 0;
  virtual std::unique_ptr<Cursor> Open() = 0;

 private:
  QuerySource* source_;
  const char* name_;
  const char* meaning_;
  std::vector<Column> columns_;
};

// Makes the table known under its name, and under `other_name` if there is one.
Status Register(sqlite3* db, std::shared_ptr<Table> table, const char* other_name = nullptr);

// Values that a condition on an integer column leaves. A comparison with NULL is true for none;
// what else is no number restricts nothing: SQLite knows how to compare it.
struct Range {
  uint64_t low = 0;
  uint64_t high = UINT64_MAX;

  bool empty() const { return low > high; }
  bool contains(uint64_t value) const { return value >= low && value <= high; }
  bool meets(uint64_t from, uint64_t to) const { return from <= high && to >= low; }
  void Restrict(int op, sqlite3_value* value);
  void AtLeast(uint64_t value) { low = value > low ? value : low; }
  void AtMost(uint64_t value) { high = value < high ? value : high; }
  void Nothing() {
    low = 1;
    high = 0;
  }
};
// Whether Restrict knows `op`.
bool IsComparison(int op);

}  // namespace heapgauge::query
