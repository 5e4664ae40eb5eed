#include "core/query/grouped_rows.h"

#include <algorithm>
#include <numeric>
#include <type_traits>
#include <utility>

namespace heapgauge::query {

using allocation::kLifespan;
using allocation::kNullColumn;
using allocation::NumberIn;

void PackedNumbers::AddWide(int64_t value) {
  if (wide_.empty()) {
    std::vector<int64_t> wide;
    wide.reserve(narrow_.size() * 3 / 2 + 16);
    for (size_t i = 0; i < narrow_.size(); ++i) wide.push_back((*this)[i]);
    wide_ = std::move(wide);
    narrow_ = {};
  }
  wide_.push_back(value);
}

void PackedNumbers::Permute(const std::vector<uint32_t>& order) {
  const auto permute = [&](auto* numbers) {
    if (numbers->empty()) return;
    std::remove_pointer_t<decltype(numbers)> permuted(order.size());
    for (size_t i = 0; i < order.size(); ++i) permuted[i] = (*numbers)[order[i]];
    numbers->swap(permuted);
  };
  permute(&narrow_);
  permute(&wide_);
}

double GroupedRows::BytesFor(const Scan& scan, double rows) {
  double bytes = 4;  // the order
  for (int column = 0; column < kLifespan; ++column) {
    if (!scan.uses(column)) continue;
    const bool wide = column == allocation::kBorn || column == allocation::kFreed ||
                      column == allocation::kLifetime || column == allocation::kAddress;
    bytes += wide ? 8 : 4;
  }
  return bytes * rows;
}

GroupedRows::GroupedRows(const Scan& scan, const allocation::Recorded& recorded)
    : group_by_(scan.group_by), recorded_(recorded) {
  for (int column = 0; column < kLifespan; ++column) {
    const bool is_key = std::find(group_by_.begin(), group_by_.end(), column) != group_by_.end();
    if (scan.uses(column) || is_key) columns_.push_back(column);
  }
  values_.resize(columns_.size());
  std::fill(std::begin(place_), std::end(place_), -1);
  for (size_t i = 0; i < columns_.size(); ++i) place_[columns_[i]] = static_cast<int>(i);
}

void GroupedRows::Add(const trace::Block& block) {
  for (size_t i = 0; i < columns_.size(); ++i) {
    values_[i].Add(NumberIn(block, columns_[i], recorded_));
  }
  ++count_;
}

void GroupedRows::Arrange() {
  order_.resize(count_);
  std::iota(order_.begin(), order_.end(), 0u);
  for (size_t i = group_by_.size(); i-- > 0;) ArrangeBy(values_[place_[group_by_[i]]]);
  // At once for all rows, which the processor overlaps; one by one each would wait for memory.
  for (PackedNumbers& values : values_) values.Permute(order_);
  order_ = {};
}

void GroupedRows::ArrangeBy(const PackedNumbers& keys) {
  const size_t count = keys.size();
  int64_t low = INT64_MAX;
  int64_t high = INT64_MIN;
  for (size_t i = 0; i < count; ++i) {
    const int64_t key = keys[i];
    if (key == kNullColumn) continue;
    low = std::min(low, key);
    high = std::max(high, key);
  }
  if (low > high) return;  // all are NULL
  constexpr uint64_t kSmall = 1 << 22;
  const uint64_t span = static_cast<uint64_t>(high) - static_cast<uint64_t>(low) + 2;
  if (span < kSmall && span != 0) {
    const auto place = [&](int64_t key) {
      return key == kNullColumn ? 0 : static_cast<size_t>(key - low) + 1;
    };
    std::vector<uint32_t> from(span + 1);
    for (size_t i = 0; i < count; ++i) ++from[place(keys[i]) + 1];
    std::partial_sum(from.begin(), from.end(), from.begin());
    std::vector<uint32_t> arranged(order_.size());
    for (const uint32_t row : order_) arranged[from[place(keys[row])]++] = row;
    order_.swap(arranged);
    return;
  }
  std::vector<std::pair<int64_t, uint32_t>> sorted;
  sorted.reserve(order_.size());
  for (const uint32_t row : order_) sorted.emplace_back(keys[row], row);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (size_t i = 0; i < sorted.size(); ++i) order_[i] = sorted[i].second;
}

}  // namespace heapgauge::query
