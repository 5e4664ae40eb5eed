#include "core/trace/record/address_index.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

namespace heapgauge::trace {
namespace {

constexpr int kFirstTableBits = 6;
// A region with so few lines is left as it is until it has no block at all.
constexpr uint32_t kFewLines = 64;
constexpr uint32_t kLinesPerBlock = 4;  // with more it is tidied up
// So many regions may be empty, and half of all.
constexpr size_t kEmptyRegions = 64;

}  // namespace

bool AddressIndex::Line::is_empty() const {
  uint32_t any = 0;
  for (const uint32_t slot : slots) any |= slot;
  return any == 0;
}

AddressIndex::Region::Region(uint64_t number_of_it, uint32_t room)
    : number(number_of_it), lines(std::make_unique<Line[]>(room)), used(1), capacity(room) {}

AddressIndex::AddressIndex(const BlockPool* pool)
    : pool_(pool), nowhere_(std::make_unique<Region>(0, 1)) {
  MakeTable(kFirstTableBits);
}
AddressIndex::~AddressIndex() {
  for (const Entry& entry : entries_) delete entry.region;
}

// Half of the places are free at the least.
void AddressIndex::MakeTable(int bits) {
  const std::vector<Entry> before = std::exchange(entries_, std::vector<Entry>(size_t{1} << bits));
  shift_ = 64 - bits;
  for (const Entry& entry : before) {
    if (entry.region != nullptr) Enter(entry.region);
  }
}

void AddressIndex::Enter(Region* region) {
  size_t at = HomeOf(region->number);
  while (entries_[at].region != nullptr) at = (at + 1) & (entries_.size() - 1);
  entries_[at] = {region->number, region};
}

AddressIndex::Region* AddressIndex::AddRegion(uint64_t number) {
  constexpr uint32_t kFirstLines = 4;
  if (++regions_ * 2 > entries_.size()) MakeTable(64 - shift_ + 1);
  auto* const region = new Region(number, kFirstLines);
  Enter(region);
  return region;
}

// So that the unit has a line, if it has none.
void AddressIndex::AddLine(uint64_t unit) {
  Region* region = Lookup(unit);
  if (region == nowhere_.get()) region = AddRegion(unit >> kRegionBits);
  if (region->numbers[LineOf(unit)] != 0) return;
  if (region->used == region->capacity) {
    const uint32_t capacity = std::min(2 * region->capacity, kLines + 1);
    auto larger = std::make_unique<Line[]>(capacity);
    std::copy_n(region->lines.get(), region->used, larger.get());
    region->lines = std::move(larger);
    region->capacity = capacity;
    ++changes_;
  }
  region->numbers[LineOf(unit)] = static_cast<uint16_t>(region->used++);
  if (region->used > kFewLines) region->least = region->used / kLinesPerBlock;
}

// Of a place that had no line when it was looked up.
uint32_t AddressIndex::RemoveAfterAll(uint64_t address) {
  const Place place = Prefetch(address);
  return place.has_line() ? Remove(place, address) : kNoSlot;
}

// Gives up the lines that are empty.
void AddressIndex::TidyUp(Region* region) {
  if (region->blocks == 0 && ++emptied_ > regions_ / 2 + kEmptyRegions) return DropEmptyRegions();
  if (region->used <= kFewLines) return;
  uint32_t used = 1;
  for (const uint16_t number : region->numbers) {
    if (number != 0 && !region->lines[number].is_empty()) ++used;
  }
  auto kept = std::make_unique<Line[]>(used);
  uint32_t next = 1;
  for (uint16_t& number : region->numbers) {
    if (number == 0) continue;
    const Line& line = region->lines[std::exchange(number, 0)];
    if (line.is_empty()) continue;
    number = static_cast<uint16_t>(next);
    kept[next++] = line;
  }
  region->lines = std::move(kept);
  ++changes_;
  region->used = region->capacity = used;
  region->least = used > kFewLines ? used / kLinesPerBlock : 1;
}

void AddressIndex::DropEmptyRegions() {
  emptied_ = 0;
  ++changes_;
  for (Entry& entry : entries_) {
    if (entry.region == nullptr || entry.region->blocks != 0) continue;
    delete std::exchange(entry.region, nullptr);
    --regions_;
  }
  int bits = kFirstTableBits;
  while (regions_ * 4 > size_t{1} << bits) ++bits;
  MakeTable(bits);
}

size_t AddressIndex::bytes() const {
  size_t sum = entries_.size() * sizeof(Entry);
  for (const Entry& entry : entries_) {
    if (entry.region != nullptr) sum += sizeof(Region) + entry.region->capacity * sizeof(Line);
  }
  return sum;
}

std::vector<MappingTable::Cut> MappingTable::Remove(uint64_t start, uint64_t end) {
  std::vector<Cut> cuts;
  auto it = ranges_.lower_bound(start);
  if (it != ranges_.begin() && std::prev(it)->second.end > start) --it;
  while (it != ranges_.end() && it->first < end) {
    Cut cut;
    cut.slot = it->second.slot;
    cut.start = it->first;
    cut.end = it->second.end;
    cut.left_end = std::max(cut.start, start);
    cut.right_start = std::min(cut.end, end);
    cuts.push_back(cut);
    it = ranges_.erase(it);
  }
  return cuts;
}

}  // namespace heapgauge::trace
