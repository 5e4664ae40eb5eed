#include "core/trace/file/sums_codec.h"

#include <bit>
#include <cmath>

namespace heapgauge::trace {
namespace {

// Four bytes are enough for a sum of lifetimes: one part in ten million.
uint32_t Short(double value) { return std::bit_cast<uint32_t>(static_cast<float>(value)); }

}  // namespace

void EncodeSums(const std::vector<StackSums>& sums, ColumnWriter* out) {
  uint64_t last = 0;
  for (const StackSums& s : sums) {
    const uint64_t key = uint64_t{s.stack} * 2 + (s.is_mapping ? 1 : 0);
    out->Number(key - last);
    last = key;
    out->Number(s.allocated_blocks);
    if (s.allocated_blocks != 0) out->Number(s.allocated_bytes);
    out->Number(s.freed_blocks);
    if (s.freed_blocks == 0) continue;
    out->Number(s.freed_bytes);
    out->Number(s.temporary_blocks);
    if (s.temporary_blocks != 0) out->Number(s.temporary_bytes);
    const uint32_t lifetime = Short(s.lifetime_byte_ns);
    out->Raw(&lifetime, sizeof lifetime);
  }
}

bool DecodeSums(ColumnReader in, uint32_t stacks, std::vector<StackSums>* out) {
  out->clear();
  uint64_t key = 0;
  while (in.left() != 0) {
    const uint64_t step = in.Number();
    if (step > UINT32_MAX * uint64_t{2} || (step == 0 && !out->empty())) return false;
    key += step;
    if (key / 2 >= stacks) return false;
    StackSums s;
    s.stack = static_cast<uint32_t>(key / 2);
    s.is_mapping = (key & 1) != 0;
    s.allocated_blocks = in.Number();
    if (s.allocated_blocks != 0) s.allocated_bytes = in.Number();
    s.freed_blocks = in.Number();
    if (s.freed_blocks != 0) {
      s.freed_bytes = in.Number();
      s.temporary_blocks = in.Number();
      if (s.temporary_blocks != 0) s.temporary_bytes = in.Number();
      uint32_t lifetime = 0;
      in.Raw(&lifetime, sizeof lifetime);
      s.lifetime_byte_ns = std::bit_cast<float>(lifetime);
      if (!std::isfinite(s.lifetime_byte_ns) || s.lifetime_byte_ns < 0) return false;
    }
    if (!in.ok()) return false;
    out->push_back(s);
  }
  return in.ok();
}

}  // namespace heapgauge::trace
