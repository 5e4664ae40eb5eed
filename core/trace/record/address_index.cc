#include "core/trace/record/address_index.h"

namespace heapgauge::trace {

AddressIndex::AddressIndex(const BlockPool* pool) : pool_(pool) {
  for (size_t part = 0; part < parts_.size(); ++part) SetSize(part, 1);
}

// Its own line is enough: few are elsewhere.
uint32_t AddressIndex::PrefetchBlock(uint64_t hash) const {
  const Line& line = *HomeOf(hash);
  for (uint64_t matches = line.Matches(MarkOf(hash)); matches != 0; matches &= matches - 1) {
    const Entry& entry = line.entries[NumberOf(matches)];
    if (entry.tag != TagOf(hash)) continue;
    __builtin_prefetch(&(*pool_)[entry.slot], 1);
    return entry.slot;
  }
  return kNoSlot;
}

AddressIndex::Line* AddressIndex::PassBy(const Part& part, Line* line) {
  if (line->passed() != kMostPassed) line->marks += uint64_t{1} << kPassedShift;
  return part.Next(line);
}

// What was in `line` had passed by all others from its own to there.
void AddressIndex::TakeBack(uint64_t hash, const Line* line) {
  const Part& part = parts_[PartOf(hash)];
  for (Line* at = HomeOf(hash); at != line; at = part.Next(at)) {
    if (at->passed() != kMostPassed) at->marks -= uint64_t{1} << kPassedShift;
  }
}

// Four to a line at the most, on average: then one line in twenty has no room for all of its own.
void AddressIndex::SetSize(size_t part, uint32_t lines) {
  parts_[part].lines = std::make_unique<Line[]>(lines);
  parts_[part].last = (lines - 1) * sizeof(Line);
  populations_[part].most = lines * 4;
  populations_[part].least = lines > 1 ? lines : 0;
}

void AddressIndex::Resize(size_t part, uint32_t lines) {
  const uint32_t old_lines = LinesOf(part);
  const std::unique_ptr<Line[]> old = std::move(parts_[part].lines);
  SetSize(part, lines);
  for (uint32_t i = 0; i < old_lines; ++i) {
    for (uint32_t place = 0; place < kPlaces; ++place) {
      const uint64_t mark = old[i].marks >> 8 * place & 255;
      if (mark != 0) Insert(parts_[part], mark, old[i].entries[place]);
    }
  }
}

size_t AddressIndex::bytes() const {
  size_t sum = 0;
  for (const Part& part : parts_) sum += part.last + sizeof(Line);
  return sum;
}

}  // namespace heapgauge::trace
