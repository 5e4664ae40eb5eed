// The blocks that are live in a traced program, 64 bytes for each and as many as there are, since a
// program may have millions. They lie in pieces that are given back when they are empty.
//
// One thread. A slot is valid until it is returned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "core/trace/file/block.h"

namespace heapgauge::trace {

struct alignas(64) LiveBlock : Birth {
  enum Flag : uint8_t {
    kInUse = 1,
    kHeld = 2,  // its birth has not been written yet
  };
  uint8_t flags;
  uint32_t counter;  // allocations of its thread up to this one
  uint32_t link;     // kHeld: where its birth is kept
};
static_assert(sizeof(LiveBlock) == 64);

// Memory for blocks, by slot number.
class BlockPool {
 public:
  static constexpr uint32_t kNoSlot = UINT32_MAX;

  // kNoSlot if there are 4 billion already.
  uint32_t Take(LiveBlock** block) {
    if (recent_.empty() && !Refill()) [[unlikely]]
      return kNoSlot;
    const uint32_t slot = recent_.back();
    recent_.pop_back();
    *block = &(*this)[slot];
    (*block)->flags = LiveBlock::kInUse;
    ++size_;
    return slot;
  }
  void Return(uint32_t slot) { Return(slot, &(*this)[slot]); }
  // `block` is that of the slot.
  void Return(uint32_t slot, LiveBlock* block) {
    block->flags = 0;
    --size_;
    if (recent_.size() >= kMostRecent) SpillRecent();
    recent_.push_back(slot);
  }
  LiveBlock& operator[](uint32_t slot) { return starts_[slot / kPieceBlocks][slot % kPieceBlocks]; }
  const LiveBlock& operator[](uint32_t slot) const {
    return starts_[slot / kPieceBlocks][slot % kPieceBlocks];
  }
  size_t size() const { return size_; }
  size_t bytes() const;
  // Calls visit(slot) for all that are taken.
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (size_t piece = 0; piece < pieces_.size(); ++piece) {
      if (pieces_[piece].taken == 0) continue;
      for (uint32_t i = 0; i < pieces_[piece].fresh; ++i) {
        if ((pieces_[piece].blocks[i].flags & LiveBlock::kInUse) != 0) {
          visit(static_cast<uint32_t>(piece * kPieceBlocks + i));
        }
      }
    }
  }

 private:
  static constexpr uint32_t kPieceBlocks = 16384;
  static_assert(kPieceBlocks <= UINT16_MAX + 1);
  struct Unmake {
    void operator()(LiveBlock* blocks) const {
      ::operator delete (blocks, std::align_val_t{alignof(LiveBlock)});
    }
  };
  struct Piece {
    std::unique_ptr<LiveBlock[], Unmake> blocks;  // null: given back. Made when they are taken
    // Within the piece. Apart from the blocks, which may have left the processor's cache.
    std::vector<uint16_t> free;
    uint32_t fresh = 0;  // blocks from here on were never taken
    uint32_t taken = 0;
    bool has_room() const { return taken < kPieceBlocks; }
  };
  void FindPiece();
  // False if there are no more.
  [[gnu::noinline]] bool Refill();
  [[gnu::noinline]] void SpillRecent();
  void ReturnToPiece(uint32_t slot);

  std::vector<Piece> pieces_;
  std::vector<LiveBlock*> starts_;  // of the blocks of each piece
  std::vector<uint64_t> room_;      // a bit for each piece
  uint32_t current_ = kNoSlot;
  size_t size_ = 0;
  // Slots to be taken next, the last one first: they were returned lately, or are on their way into
  // the processor's cache. Their pieces count them as taken.
  static constexpr size_t kMostRecent = 4096;
  std::vector<uint32_t> recent_;
  uint32_t empty_pieces_ = 0;  // that still have their memory
};

}  // namespace heapgauge::trace
