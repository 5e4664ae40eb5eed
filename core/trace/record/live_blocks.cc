#include "core/trace/record/live_blocks.h"

#include <algorithm>
#include <bit>

namespace heapgauge::trace {
namespace {

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

}  // namespace heapgauge::trace
