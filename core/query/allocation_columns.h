// The columns of allocations, and rows of them grouped by some.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/query/virtual_table.h"
#include "core/trace/file/block.h"

namespace heapgauge::query::allocation {

// The columns of allocations: what they mean, and their values in a block.
//
// Pure functions.

enum Id : int {
  kNumber,
  kBorn,
  kFreed,
  kLifetime,
  kAddress,
  kSize,
  kSlack,
  kAlignment,
  kCall,
  kStack,
  kThread,
  kFreedBy,
  kDistance,
  kTemporary,
  kPrevious,
  kIsMapping,
  kResized,
  kLifespan,
};

std::vector<Column> Columns();

inline constexpr int64_t kNullColumn = INT64_MIN;

// What the recording tells about all of its blocks.
struct Recorded {
  uint64_t end_ns = 0;
  bool only_blocks = false;  // see trace::Facts
};

// A column as a number; of `call` its code, -1 for mmap; kNullColumn if it is not known. Lifespan
// is none.
int64_t NumberIn(const trace::Block& block, int column, const Recorded& recorded);
// Puts what NumberIn gave.
void PutNumber(int column, int64_t value, sqlite3_context* out);

// Whether it tells when or how a block ended.
bool NeedsEnd(int column);

}  // namespace heapgauge::query::allocation

namespace heapgauge::query {

// Numbers in as few bytes as they need: four until one comes that does not fit.
class PackedNumbers {
 public:
  void Add(int64_t value) {
    if (wide_.empty() &&
        (value == allocation::kNullColumn || (value >= 0 && value < kNullInFour))) {
      narrow_.push_back(value == allocation::kNullColumn ? kNullInFour
                                                         : static_cast<uint32_t>(value));
      return;
    }
    AddWide(value);
  }
  int64_t operator[](size_t i) const {
    if (!wide_.empty()) return wide_[i];
    return narrow_[i] == kNullInFour ? allocation::kNullColumn : int64_t{narrow_[i]};
  }
  size_t size() const { return wide_.empty() ? narrow_.size() : wide_.size(); }
  // Puts at each place the number that was at order[place].
  void Permute(const std::vector<uint32_t>& order);

 private:
  static constexpr uint32_t kNullInFour = UINT32_MAX;
  void AddWide(int64_t value);

  std::vector<uint32_t> narrow_;
  std::vector<int64_t> wide_;  // not empty: all of them are here
};

// Rows of allocations that were gathered so that those which are equal in some columns are side by
// side, which is what GROUP BY needs. SQLite would sort them as well, one record each, which takes
// ten times as long.
//
// Four bytes for each value that the statement looks at, eight where times and addresses need them,
// and four for the order. One thread.
class GroupedRows {
 public:
  // Bytes that so many rows take, about.
  static double BytesFor(const Scan& scan, double rows);

  GroupedRows(const Scan& scan, const allocation::Recorded& recorded);

  void Add(const trace::Block& block);
  // After the last one.
  void Arrange();

  size_t size() const { return count_; }
  int64_t at(size_t row, int column) const {
    const int place = place_[column];
    return place < 0 ? allocation::kNullColumn : values_[place][row];
  }

 private:
  void ArrangeBy(const PackedNumbers& keys);

  std::vector<int> group_by_;
  allocation::Recorded recorded_;
  std::vector<int> columns_;
  int place_[allocation::kLifespan + 1];  // in values_, by column
  std::vector<PackedNumbers> values_;
  std::vector<uint32_t> order_;  // while they are arranged
  size_t count_ = 0;
};

}  // namespace heapgauge::query
