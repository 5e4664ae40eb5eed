// The blocks that are live in a traced program, by address: about 64 bytes for each and as many as
// there are, since a program may have millions.
//
// Blocks lie in a pool of pieces that are given back when they are empty. The index is open
// addressing with 8 bytes a place, in 256 parts by hash, so that growing one never takes long; it
// shrinks again. In front of it is a small table of blocks that came last: most die while they are
// in it, and never get any further. Prefetch and PrefetchBlock let a caller look up many addresses
// without waiting for memory at each.
//
// One thread. A slot is valid until it is returned.
#ifndef HEAPGAUGE_CORE_TRACE_RECORD_LIVE_BLOCKS_H_
#define HEAPGAUGE_CORE_TRACE_RECORD_LIVE_BLOCKS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "core/trace/block.h"

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
  [[gnu::noinline]] void SpillRecent();

  std::vector<Piece> pieces_;
  std::vector<LiveBlock*> starts_;  // of the blocks of each piece
  std::vector<uint64_t> room_;      // a bit for each piece
  void ReturnToPiece(uint32_t slot);
  // False if there are no more.
  [[gnu::noinline]] bool Refill();

  uint32_t current_ = kNoSlot;
  size_t size_ = 0;
  // Slots to be taken next, the last one first: they were returned lately, or are on their way into
  // the processor's cache. Their pieces count them as taken.
  static constexpr size_t kMostRecent = 4096;
  std::vector<uint32_t> recent_;
  uint32_t empty_pieces_ = 0;  // that still have their memory
};

// From address to slot.
class AddressIndex {
 public:
  static constexpr uint32_t kNoSlot = BlockPool::kNoSlot;
  explicit AddressIndex(BlockPool* pool);

  static uint64_t Hash(uint64_t address) { return (address >> 3) * 0x9e3779b97f4a7c15; }
  void Prefetch(uint64_t hash) const;
  // The slot that is probably meant, or kNoSlot. REQUIRES: Prefetch some time before, to be of use.
  uint32_t PrefetchBlock(uint64_t hash) const;

  uint32_t Find(uint64_t address, uint64_t hash) const;
  // Takes the address out; its slot, or kNoSlot.
  uint32_t Remove(uint64_t address, uint64_t hash);
  // Puts a slot in; the one that had this address before, or kNoSlot.
  uint32_t Put(uint64_t address, uint64_t hash, uint32_t slot);
  // Of the addresses that were taken out so far, those that had got as far as the parts.
  uint64_t taken_old() const { return taken_old_; }
  size_t bytes() const;

 private:
  struct Place {
    uint32_t tag = 0;
    uint32_t slot_plus_1 = 0;  // 0: nothing here
  };
  struct Part {
    std::unique_ptr<Place[]> places;
    uint32_t mask = 0;
    uint32_t count = 0;
    uint32_t least = 0;  // with fewer it shrinks
    uint32_t most = 0;   // with more it grows
  };
  static uint32_t TagOf(uint64_t hash) { return static_cast<uint32_t>(hash >> 24); }
  static size_t PartOf(uint64_t hash) { return hash >> 56; }
  // The young ones of one place belong to one part.
  static constexpr int kYoungBits = 10;
  static_assert(kYoungBits >= 8);
  static size_t YoungOf(uint64_t hash) { return hash >> (64 - kYoungBits); }
  static size_t PartOfYoung(size_t young) { return young >> (kYoungBits - 8); }
  bool Is(const Place& place, uint32_t tag, uint64_t address) const {
    return place.tag == tag && (*pool_)[place.slot_plus_1 - 1].address == address;
  }
  // REQUIRES: the address is not in the part.
  static void PutOld(Part* part, const Place& place);
  uint32_t TakeOld(Part* part, uint32_t tag, uint64_t address);
  static void SetSize(Part* part, uint32_t places);
  [[gnu::noinline]] static void Resize(Part* part, uint32_t places);

  BlockPool* pool_;
  // An address is here or in its part, not in both.
  std::array<Place, size_t{1} << kYoungBits> young_;
  std::array<Part, 256> parts_;
  uint64_t taken_old_ = 0;
};

}  // namespace heapgauge::trace

#endif  // HEAPGAUGE_CORE_TRACE_RECORD_LIVE_BLOCKS_H_
