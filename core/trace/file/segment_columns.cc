#include "core/trace/file/segment_columns.h"

#include <bit>
#include <cmath>

namespace heapgauge::trace {
namespace {

// Four bytes are enough for a sum of lifetimes: one part in ten million.
uint32_t Short(double value) { return std::bit_cast<uint32_t>(static_cast<float>(value)); }

// In the counts of a row, beside the number of blocks allocated.
constexpr uint64_t kOfMappings = 1;
constexpr uint64_t kSameStack = 2;  // as the row before

}  // namespace

void AppendSums(uint32_t stack, bool is_mapping, const Tally& tally, std::vector<StackSums>* out) {
  if (tally.empty()) return;
  StackSums& row = out->emplace_back();
  row.stack = stack;
  row.is_mapping = is_mapping;
  row.allocated_blocks = tally.allocated_blocks;
  row.allocated_bytes = tally.allocated_bytes;
  row.freed_blocks = tally.freed_blocks;
  row.freed_bytes = tally.freed_bytes;
  row.temporary_blocks = tally.temporary_blocks;
  row.temporary_bytes = tally.temporary_bytes;
  row.lifetime_byte_ns = tally.lifetime_byte_ns;
}

void SumColumns::Add(uint32_t stack, bool is_mapping, const Tally& tally) {
  if (tally.empty()) return;
  const bool same = stack == last_stack_;
  last_stack_ = stack;
  counts.Number(uint64_t{tally.allocated_blocks} << 2 | (is_mapping ? kOfMappings : 0) |
                (same ? kSameStack : 0));
  if (tally.allocated_blocks != 0) bytes.Number(tally.allocated_bytes);
  counts.Number(tally.freed_blocks);
  if (tally.freed_blocks == 0) return;
  bytes.Number(tally.freed_bytes);
  counts.Number(tally.temporary_blocks);
  if (tally.temporary_blocks != 0) bytes.Number(tally.temporary_bytes);
  const uint32_t lifetime = Short(tally.lifetime_byte_ns);
  lifetimes.Raw(&lifetime, sizeof lifetime);
}

bool DecodeSums(std::span<const uint32_t> stacks, ColumnReader counts, ColumnReader bytes,
                ColumnReader lifetimes, std::vector<StackSums>* out) {
  out->clear();
  size_t place = 0;
  while (counts.left() != 0) {
    StackSums s;
    const uint64_t first = counts.Number();
    if ((first & kSameStack) != 0) {
      if (place == 0 || (first & kOfMappings) == 0 || out->back().is_mapping) return false;
    } else if (place++ == stacks.size()) {
      return false;
    }
    s.stack = stacks[place - 1];
    s.is_mapping = (first & kOfMappings) != 0;
    s.allocated_blocks = first >> 2;
    if (s.allocated_blocks != 0) s.allocated_bytes = bytes.Number();
    s.freed_blocks = counts.Number();
    if (s.freed_blocks != 0) {
      s.freed_bytes = bytes.Number();
      s.temporary_blocks = counts.Number();
      if (s.temporary_blocks != 0) s.temporary_bytes = bytes.Number();
      uint32_t lifetime = 0;
      lifetimes.Raw(&lifetime, sizeof lifetime);
      s.lifetime_byte_ns = std::bit_cast<float>(lifetime);
      if (!std::isfinite(s.lifetime_byte_ns) || s.lifetime_byte_ns < 0) return false;
    }
    out->push_back(s);
  }
  return counts.done() && bytes.done() && lifetimes.done() && place == stacks.size();
}

}  // namespace heapgauge::trace
