#include "core/leaks/scan/marks.h"

#include <algorithm>

#include "core/base/large_memory.h"

namespace heapgauge::leaks {

Marks::Marks(const MemoryImage& image, const BlockIndex& index, const Roots& roots,
             uint32_t heuristics)
    : image_(image),
      index_(index),
      roots_(roots),
      heuristics_(image, roots, heuristics),
      state_(index.size()),
      reached_(index.size()),
      settled_(index.size()),
      possible_(index.size()),
      facts_(index.size()),
      has_interiors_(index.size()),
      to_follow_(index.size() + 1),
      followable_(index.size()) {
  ReserveHuge(index.size(), &verdicts_);
  verdicts_.resize(index.size());
  settled_.Set(static_cast<uint32_t>(index.size()));  // of none
}

void Marks::NeedsNoHeuristic(uint32_t block) {
  settled_.Set(block);
  verdicts_[block].heuristic = Heuristic::kNone;
}

void Marks::AddInterior(uint32_t block, Place place, const Origin& origin) {
  uint8_t& state = state_[block];
  if ((state & kInteriors) == 0) {
    SetVerdict(block, Kind::kDefinite, Heuristic::kNone, origin);  // as far as is known
    has_interiors_.Set(block);
  }
  const auto bit = static_cast<uint8_t>(1u << static_cast<uint32_t>(place));
  const bool again = (state & bit) != 0;
  state |= bit;
  // Two pointers to the same place say the same.
  if (place == Place::kUnaligned || (again && place != Place::kInside)) return;
  if (IsIdle(block, place)) return;
  interiors_.push_back({origin, block, place});
}

void Marks::TrimInteriors() {
  std::erase_if(interiors_, [this](const Interior& interior) {
    return reached(interior.block) || IsIdle(interior.block, interior.place);
  });
  trim_at_ = std::max<size_t>(1 << 16, interiors_.size() * 2);
}

std::vector<uint32_t> Marks::BlocksToKnow() const {
  std::vector<uint32_t> blocks;
  for (const Interior& interior : interiors_) {
    const bool known = (facts_[interior.block] & kFactsKnown) != 0;
    if (!known && !reached(interior.block)) blocks.push_back(interior.block);
  }
  std::sort(blocks.begin(), blocks.end());
  blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
  return blocks;
}

bool Marks::PointsTo(const Interior& interior, uint64_t* address) const {
  const AddressRange& extent = index_.extent(interior.block);
  if (interior.place == Place::kAt8) {
    *address = extent.start + 8;
  } else if (interior.place == Place::kAt24) {
    *address = extent.start + 24;
  } else if (interior.origin.is_register) {
    *address = roots_.registers[interior.origin.address].value;
  } else {
    uint64_t word = 0;
    if (image_.Read(interior.origin.address, sizeof word, &word) != sizeof word) return false;
    *address = word;
  }
  // It was so when it was found; memory that does not stand still must do no harm.
  return *address >= extent.start && *address < extent.end;
}

bool Marks::JudgeInteriors() {
  std::vector<Interior> interiors;
  interiors.swap(interiors_);
  bool any = false;
  for (const Interior& interior : interiors) {
    uint64_t address = 0;
    if (reached(interior.block)) continue;
    const BlockFacts facts = facts_[interior.block];
    if (!heuristics_.MayCount(facts, interior.place) || !PointsTo(interior, &address)) continue;
    const Heuristic heuristic = heuristics_.Judge(index_.extent(interior.block), facts, address);
    if (heuristic == Heuristic::kNone) continue;
    Mark(interior.block, heuristic, interior.origin);
    any = true;
  }
  return any;
}

void Marks::SetPossible(uint32_t block, const Origin& origin) {
  possible_.Set(block);
  SetVerdict(block, Kind::kPossible, Heuristic::kNone, origin);
}

void Marks::MarkInteriorsPossible(std::vector<uint32_t>* marked) {
  const size_t end = index_.size();
  for (uint32_t block = has_interiors_.Next(0, end); block != kNoBlock;
       block = has_interiors_.Next(block + 1, end)) {
    if (reached(block)) continue;
    possible_.Set(block);
    verdicts_[block].kind = Kind::kPossible;  // the origin is known
    marked->push_back(block);
  }
}

}  // namespace heapgauge::leaks
