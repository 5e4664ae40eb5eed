#include "core/query/allocation_columns.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <type_traits>
#include <utility>

namespace heapgauge::query::allocation {
namespace {

// In alphabetical order, so that rows in order of their places are in order of the names.
constexpr const char* kCalls[] = {"aligned", "calloc", "malloc", "mallocx", "mmap",
                                  "new",     "new[]",  "other",  "pool",    "realloc"};
enum CallPlace {
  kAligned,
  kCalloc,
  kMalloc,
  kMallocx,
  kMmap,
  kNew,
  kNewArray,
  kOther,
  kPool,
  kRealloc
};

int64_t CallOf(const trace::Block& block) {
  // By wire::AllocationFunction.
  constexpr CallPlace kPlaces[] = {kMalloc, kCalloc,   kRealloc, kAligned,
                                   kNew,    kNewArray, kMallocx, kPool};
  if (block.is_mapping) return kMmap;
  return block.function < std::size(kPlaces) ? kPlaces[block.function] : kOther;
}

int64_t Whole(uint64_t value) {
  return value > INT64_MAX ? INT64_MAX : static_cast<int64_t>(value);
}

// What an import of another tool's recording does not know of any block.
bool NeedsMoreThanBlocks(int column) {
  return column == kSlack || column == kAlignment || column == kCall || column == kThread ||
         column == kFreedBy || column == kPrevious || column == kResized;
}

}  // namespace

std::vector<Column> Columns() {
  return {
      {"number", "INTEGER", "allocations are numbered from 0 in order of time"},
      {"born_ns", "INTEGER", "when it was allocated, since the recording began"},
      {"freed_ns", "INTEGER", "when it was freed; NULL if it never was"},
      {"lifetime_ns", "INTEGER", "from then to then, or to the end of the recording"},
      {"address", "INTEGER",
       "of the block; printf('%x', address) is hexadecimal; NULL if not known"},
      {"size", "INTEGER", "bytes that were asked for"},
      {"slack", "INTEGER", "bytes that the allocator gave beyond; 65535: or more"},
      {"alignment", "INTEGER", "that was asked for; NULL if none was"},
      {"call", "TEXT", "malloc, calloc, realloc, aligned, new, new[], mallocx, pool, mmap"},
      {"stack", "INTEGER", "who allocated it: key of stacks, frames, snapshots, labels"},
      {"thread", "INTEGER", "that allocated it: key of threads"},
      {"freed_by", "INTEGER", "the thread that freed it; NULL if it never was"},
      {"distance", "INTEGER",
       "allocations that its thread made before it freed it; NULL if another thread did, or none"},
      {"temporary", "INTEGER", "1 if distance is 0: freed before the next allocation"},
      {"previous", "INTEGER",
       "number of the block that realloc, or a cut of a mapping, made it of; NULL if none"},
      {"is_mapping", "INTEGER", "1 if mmap made it, which only run --trace --mmap records"},
      {"resized", "INTEGER", "1 if it ended as the previous of another block"},
      {"lifespan", "BLOB", "born_ns and freed_ns for live_at(lifespan, t)", true},
  };
}

int64_t NumberIn(const trace::Block& b, int column, const Recorded& recorded) {
  if (recorded.only_blocks && NeedsMoreThanBlocks(column)) return kNullColumn;
  switch (column) {
    case kNumber:
      return Whole(b.number);
    case kBorn:
      return Whole(b.birth_ns);
    case kFreed:
      return b.is_live() ? kNullColumn : Whole(b.death_ns);
    case kLifetime:
      return Whole(b.lifetime_ns(recorded.end_ns));
    case kAddress:
      return b.address == 0 ? kNullColumn : Whole(b.address);
    case kSize:
      return Whole(b.size);
    case kSlack:
      return b.slack;
    case kAlignment:
      return b.alignment_log2 == 0 || b.alignment_log2 > 62 ? kNullColumn
                                                            : int64_t{1} << b.alignment_log2;
    case kCall:
      return CallOf(b);
    case kStack:
      return b.stack;
    case kThread:
      return b.thread == trace::kNoIndex ? kNullColumn : int64_t{b.thread};
    case kFreedBy:
      return b.is_live() || b.death_thread == trace::kNoIndex ? kNullColumn
                                                              : int64_t{b.death_thread};
    case kDistance:
      return b.distance == trace::kForeign ? kNullColumn : int64_t{b.distance};
    case kTemporary:
      return b.distance == 0 ? 1 : 0;
    case kPrevious:
      return b.previous == trace::kNoBlock ? kNullColumn : Whole(b.previous);
    case kIsMapping:
      return b.is_mapping ? 1 : 0;
    case kResized:
      return b.resized_away ? 1 : 0;
    default:
      return kNullColumn;
  }
}

void PutNumber(int column, int64_t value, sqlite3_context* out) {
  if (value == kNullColumn) return;
  if (column == kCall) return PutLasting(out, kCalls[value]);
  sqlite3_result_int64(out, value);
}

bool NeedsEnd(int column) {
  return column == kFreed || column == kLifetime || column == kFreedBy || column == kDistance ||
         column == kTemporary || column == kResized || column == kLifespan;
}

}  // namespace heapgauge::query::allocation

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
