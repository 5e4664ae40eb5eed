#include "core/trace/record/live_blocks.h"

#include <algorithm>
#include <bit>

namespace heapgauge::trace {
namespace {

constexpr uint32_t kLeastPlaces = 64;
constexpr uint32_t kRefilled = 32;  // slots of a pool, at a time

}  // namespace

void BlockPool::FindPiece() {
  for (size_t word = 0; word < room_.size(); ++word) {
    if (room_[word] == 0) continue;
    current_ =
        static_cast<uint32_t>(word * 64 + static_cast<size_t>(std::countr_zero(room_[word])));
    return;
  }
  if (pieces_.size() >= kNoSlot / kPieceBlocks) {
    current_ = kNoSlot;
    return;
  }
  current_ = static_cast<uint32_t>(pieces_.size());
  pieces_.emplace_back();
  starts_.push_back(nullptr);
  if (pieces_.size() > room_.size() * 64) room_.push_back(0);
  room_[current_ / 64] |= uint64_t{1} << current_ % 64;
}

bool BlockPool::Refill() {
  if (current_ == kNoSlot || !pieces_[current_].has_room()) {
    FindPiece();
    if (current_ == kNoSlot) return false;
  }
  Piece& piece = pieces_[current_];
  if (piece.blocks == nullptr) {
    piece.blocks.reset(static_cast<LiveBlock*>(
        ::operator new (sizeof(LiveBlock) * kPieceBlocks, std::align_val_t{alignof(LiveBlock)})));
    starts_[current_] = piece.blocks.get();
    piece.free.clear();
    piece.fresh = 0;
  } else if (piece.taken == 0 && empty_pieces_ > 0) {
    --empty_pieces_;
  }
  for (uint32_t i = 0; i < kRefilled && piece.has_room(); ++i) {
    uint32_t index = piece.fresh;
    if (!piece.free.empty()) {
      index = piece.free.back();
      piece.free.pop_back();
      __builtin_prefetch(&piece.blocks[index], 1);
    } else {
      piece.blocks[piece.fresh++].flags = 0;
    }
    recent_.push_back(current_ * kPieceBlocks + index);
    ++piece.taken;
  }
  if (!piece.has_room()) room_[current_ / 64] &= ~(uint64_t{1} << current_ % 64);
  return true;
}

// The older half goes back to the pieces.
void BlockPool::SpillRecent() {
  const auto half = recent_.begin() + kMostRecent / 2;
  std::for_each(recent_.begin(), half, [this](uint32_t slot) { ReturnToPiece(slot); });
  recent_.erase(recent_.begin(), half);
}

void BlockPool::ReturnToPiece(uint32_t slot) {
  const uint32_t number = slot / kPieceBlocks;
  Piece& piece = pieces_[number];
  piece.free.push_back(static_cast<uint16_t>(slot % kPieceBlocks));
  room_[number / 64] |= uint64_t{1} << number % 64;
  if (--piece.taken != 0) return;
  // One empty piece is kept, so that a program that goes to and fro does not cost a piece each
  // time.
  if (++empty_pieces_ <= 1) return;
  --empty_pieces_;
  piece.blocks.reset();
  starts_[number] = nullptr;
}

size_t BlockPool::bytes() const {
  const auto kept = std::count_if(pieces_.begin(), pieces_.end(),
                                  [](const Piece& piece) { return piece.blocks != nullptr; });
  return static_cast<size_t>(kept) * kPieceBlocks * sizeof(LiveBlock);
}

AddressIndex::AddressIndex(BlockPool* pool) : pool_(pool) {
  for (Part& part : parts_) {
    part.places.reset(new Place[kLeastPlaces]);
    SetSize(&part, kLeastPlaces);
  }
}

void AddressIndex::Prefetch(uint64_t hash) const {
  const Part& part = parts_[PartOf(hash)];
  __builtin_prefetch(&part.places[TagOf(hash) & part.mask], 1);
}

uint32_t AddressIndex::PrefetchBlock(uint64_t hash) const {
  const uint32_t tag = TagOf(hash);
  const Place& young = young_[YoungOf(hash)];
  // It was there a moment ago, and so was its memory.
  if (young.tag == tag && young.slot_plus_1 != 0) return young.slot_plus_1 - 1;
  const Part& part = parts_[PartOf(hash)];
  for (uint32_t at = tag & part.mask;; at = (at + 1) & part.mask) {
    const Place& place = part.places[at];
    if (place.slot_plus_1 == 0) return kNoSlot;
    if (place.tag == tag) {
      __builtin_prefetch(&(*pool_)[place.slot_plus_1 - 1], 1);
      return place.slot_plus_1 - 1;
    }
  }
}

uint32_t AddressIndex::Find(uint64_t address, uint64_t hash) const {
  const uint32_t tag = TagOf(hash);
  const Place& young = young_[YoungOf(hash)];
  if (young.slot_plus_1 != 0 && Is(young, tag, address)) return young.slot_plus_1 - 1;
  const Part& part = parts_[PartOf(hash)];
  for (uint32_t at = tag & part.mask;; at = (at + 1) & part.mask) {
    const Place& place = part.places[at];
    if (place.slot_plus_1 == 0) return kNoSlot;
    if (Is(place, tag, address)) return place.slot_plus_1 - 1;
  }
}

uint32_t AddressIndex::Remove(uint64_t address, uint64_t hash) {
  const uint32_t tag = TagOf(hash);
  Place& young = young_[YoungOf(hash)];
  if (young.slot_plus_1 != 0 && Is(young, tag, address)) [[likely]] {
    const uint32_t slot = young.slot_plus_1 - 1;
    young.slot_plus_1 = 0;
    return slot;
  }
  return TakeOld(&parts_[PartOf(hash)], tag, address);
}

uint32_t AddressIndex::Put(uint64_t address, uint64_t hash, uint32_t slot) {
  const uint32_t tag = TagOf(hash);
  const size_t at = YoungOf(hash);
  Place& young = young_[at];
  if (young.slot_plus_1 != 0) {
    if (Is(young, tag, address)) [[unlikely]] {
      const uint32_t there = young.slot_plus_1 - 1;
      young.slot_plus_1 = slot + 1;
      return there;
    }
    PutOld(&parts_[PartOfYoung(at)], young);
  }
  young = {tag, slot + 1};
  return TakeOld(&parts_[PartOf(hash)], tag, address);
}

uint32_t AddressIndex::TakeOld(Part* part, uint32_t tag, uint64_t address) {
  const uint32_t mask = part->mask;
  Place* const places = part->places.get();
  uint32_t hole = tag & mask;
  while (true) {
    if (places[hole].slot_plus_1 == 0) return kNoSlot;
    if (Is(places[hole], tag, address)) break;
    hole = (hole + 1) & mask;
  }
  const uint32_t slot = places[hole].slot_plus_1 - 1;
  // Those behind move up, unless they would come before their own place.
  for (uint32_t at = (hole + 1) & mask; places[at].slot_plus_1 != 0; at = (at + 1) & mask) {
    const uint32_t distance = (at - (places[at].tag & mask)) & mask;
    if (distance < ((at - hole) & mask)) continue;
    places[hole] = places[at];
    hole = at;
  }
  places[hole].slot_plus_1 = 0;
  if (--part->count < part->least) [[unlikely]]
    Resize(part, (mask + 1) / 2);
  ++taken_old_;
  return slot;
}

void AddressIndex::PutOld(Part* part, const Place& place) {
  if (part->count >= part->most) [[unlikely]]
    Resize(part, (part->mask + 1) * 2);
  uint32_t at = place.tag & part->mask;
  while (part->places[at].slot_plus_1 != 0) at = (at + 1) & part->mask;
  part->places[at] = place;
  ++part->count;
}

// Never more than half full, so that most searches end at their first place, nor less than a tenth.
void AddressIndex::SetSize(Part* part, uint32_t places) {
  part->mask = places - 1;
  part->most = places / 2;
  part->least = places > kLeastPlaces ? places / 10 : 0;
}

void AddressIndex::Resize(Part* part, uint32_t places) {
  std::unique_ptr<Place[]> made(new Place[places]);
  const uint32_t mask = places - 1;
  for (uint32_t i = 0; i <= part->mask; ++i) {
    const Place& place = part->places[i];
    if (place.slot_plus_1 == 0) continue;
    uint32_t at = place.tag & mask;
    while (made[at].slot_plus_1 != 0) at = (at + 1) & mask;
    made[at] = place;
  }
  part->places = std::move(made);
  SetSize(part, places);
}

size_t AddressIndex::bytes() const {
  size_t sum = 0;
  for (const Part& part : parts_) sum += (size_t{part.mask} + 1) * sizeof(Place);
  return sum;
}

}  // namespace heapgauge::trace
