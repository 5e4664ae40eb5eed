#include "core/query/list_table.h"

namespace heapgauge::query {
namespace {

class ListCursor final : public Cursor {
 public:
  ListCursor(const CountRows& count, const PutColumn& put) : count_(count), put_(put) {}

  Status Start(const Scan&, std::span<sqlite3_value*> values) override {
    HG_ASSIGN(const size_t count, count_());
    Range rows;
    for (sqlite3_value* value : values) rows.Restrict(SQLITE_INDEX_CONSTRAINT_EQ, value);
    row_ = rows.low;
    end_ = rows.high < count ? rows.high + 1 : count;
    return {};
  }
  Status Next() override {
    ++row_;
    return {};
  }
  bool at_end() const override { return row_ >= end_; }
  void Get(int column, sqlite3_context* out) override { put_(row_, column, out); }
  int64_t row_id() const override { return static_cast<int64_t>(row_); }

 private:
  const CountRows& count_;
  const PutColumn& put_;
  size_t row_ = 0;
  size_t end_ = 0;
};

class ListTable final : public Table {
 public:
  ListTable(QuerySource* source, const char* name, const char* meaning, std::vector<Column> columns,
            CountRows count, PutColumn put, int key, Status available)
      : Table(source, name, meaning, std::move(columns)),
        count_(std::move(count)),
        put_(std::move(put)),
        key_(key),
        available_(std::move(available)) {}

  Status Available() const override { return available_; }
  bool Accepts(const Term& term) const override {
    return term.column == key_ && term.op == SQLITE_INDEX_CONSTRAINT_EQ;
  }
  Price PriceOf(const Scan& scan) const override {
    return scan.terms.empty() ? Price{10000, 10000} : Price{1, 1};
  }
  std::unique_ptr<Cursor> Open() override { return std::make_unique<ListCursor>(count_, put_); }

 private:
  CountRows count_;
  PutColumn put_;
  int key_;
  Status available_;
};

}  // namespace

std::shared_ptr<Table> MakeList(QuerySource* source, const char* name, const char* meaning,
                                std::vector<Column> columns, CountRows count, PutColumn put,
                                int key, Status available) {
  return std::make_shared<ListTable>(source, name, meaning, std::move(columns), std::move(count),
                                     std::move(put), key, std::move(available));
}

}  // namespace heapgauge::query
