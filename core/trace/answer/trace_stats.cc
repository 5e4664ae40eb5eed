#include "core/trace/answer/trace_stats.h"

#include <algorithm>
#include <cmath>

namespace heapgauge::trace {
namespace {

double Real(uint64_t value) { return static_cast<double>(value); }

}  // namespace

void ChainSums::Add(const ChainSums& other) {
  chains += other.chains;
  resizes += other.resizes;
  growths += other.growths;
  moves += other.moves;
  copied_bytes += other.copied_bytes;
  first_bytes += other.first_bytes;
  last_bytes += other.last_bytes;
  if (other.longest > longest) {
    longest = other.longest;
    longest_first_bytes = other.longest_first_bytes;
    longest_last_bytes = other.longest_last_bytes;
  }
  log_growth += other.log_growth;
  logged_growths += other.logged_growths;
}

double ChainSums::growth_factor() const {
  return logged_growths == 0 ? 0 : std::exp(log_growth / Real(logged_growths));
}

void ReallocChains::Link(const Block& old, const Block& block) {
  Open next;
  next.chain = TakeUpTo(old);
  if (next.chain.resizes == 0) next.chain.first_bytes = old.size;
  next.old_bytes = old.size;
  next.moved = old.address != block.address;
  open_[block.number] = next;
}

// The chain as far as it goes up to this block, of which all is known. Empty if the block is not
// among those that are asked for: then what came before it was a chain of its own.
ChainSums ReallocChains::TakeUpTo(const Block& block) {
  const auto known = open_.find(block.number);
  if (known == open_.end()) return {};
  Open open = known->second;
  open_.erase(known);
  if (matcher_ != nullptr && !matcher_->Matches(block)) {
    Count(open.chain);
    return {};
  }
  ChainSums& chain = open.chain;
  ++chain.resizes;
  if (open.moved) {
    ++chain.moves;
    chain.copied_bytes += std::min(open.old_bytes, block.size);
  }
  if (block.size > open.old_bytes) {
    ++chain.growths;
    if (open.old_bytes > 0) {
      chain.log_growth += std::log(Real(block.size) / Real(open.old_bytes));
      ++chain.logged_growths;
    }
  }
  chain.last_bytes = block.size;
  chain.group = groups_.Of(block);
  return chain;
}

void ReallocChains::End(const Block& last) {
  if (last.previous == kNoBlock || last.is_mapping) return;
  Count(TakeUpTo(last));
}

void ReallocChains::Count(ChainSums chain) {
  if (chain.resizes == 0) return;
  chain.chains = 1;
  chain.longest = chain.resizes;
  chain.longest_first_bytes = chain.first_bytes;
  chain.longest_last_bytes = chain.last_bytes;
  ChainSums& row = rows_[chain.group];
  row.group = chain.group;
  row.Add(chain);
  total_.Add(chain);
}

void ReallocChains::Add(const Segment& segment) {
  if (!HasAny(segment.info) && open_.empty()) return;
  // A block is born of another one that dies at the same event, so both are in this segment.
  const size_t old_count = std::min<size_t>(segment.info.old_deaths, segment.blocks.size());
  std::unordered_map<uint64_t, size_t> resized;
  for (size_t i = 0; i < old_count; ++i) {
    if (segment.blocks[i].resized_away) resized[segment.blocks[i].number] = i;
  }
  for (size_t i = old_count; i < segment.blocks.size(); ++i) {
    const Block& block = segment.blocks[i];
    if (block.previous == kNoBlock || block.is_mapping) continue;
    if (block.previous >= segment.info.first_block) {
      const uint64_t index = block.previous - segment.info.first_block;
      if (index < i - old_count) Link(segment.blocks[old_count + index], block);
    } else if (const auto found = resized.find(block.previous); found != resized.end()) {
      Link(segment.blocks[found->second], block);
    }
  }
  for (const Block& block : segment.blocks) {
    if (!block.is_live() && !block.resized_away) End(block);
  }
}

std::vector<ChainSums> ReallocChains::Rows() const {
  std::vector<ChainSums> rows;
  for (const auto& [group, row] : rows_) rows.push_back(row);
  std::sort(rows.begin(), rows.end(), [](const ChainSums& a, const ChainSums& b) {
    if (a.copied_bytes != b.copied_bytes) return a.copied_bytes > b.copied_bytes;
    if (a.resizes != b.resizes) return a.resizes > b.resizes;
    return a.group < b.group;
  });
  return rows;
}

}  // namespace heapgauge::trace
