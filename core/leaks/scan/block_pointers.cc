#include "core/leaks/scan/block_pointers.h"

#include <algorithm>

#include "core/base/arch.h"

namespace heapgauge::leaks {
namespace {

constexpr size_t kTogether = 256;

struct PlainBits {
  __attribute__((always_inline)) uint32_t operator()(uint64_t word) const {
    return BlockIndex::Bits(word);
  }
};
struct HardwareBits {
  // One instruction where the caller may use it.
  __attribute__((always_inline)) uint32_t operator()(uint64_t word) const {
    return static_cast<uint32_t>(__builtin_popcountll(word));
  }
};

}  // namespace

// A part of what was found, of kTogether words at most.
template <typename CountBits>
__attribute__((always_inline)) inline void BlockPointers::AddSome(const uint64_t* values,
                                                                  const uint32_t* places,
                                                                  size_t count, uint64_t base) {
  const BlockIndex::Row* rows[kTogether];
  for (size_t i = 0; i < count; ++i) {
    rows[i] = index_.RowOf(values[i]);
    __builtin_prefetch(rows[i]);
  }
  // What is left after pointers are dropped that lead nowhere, or to nothing new.
  struct Kept {
    uint16_t number;
    bool is_start;
    uint32_t block;
  };
  Kept kept[kTogether];
  size_t size = 0;
  for (size_t i = 0; i < count; ++i) {
    const BlockIndex::Guess guess = BlockIndex::GuessFrom(rows[i], values[i], CountBits());
    kept[size] = {static_cast<uint16_t>(i), guess.is_start, guess.block};
    // From a bucket it may lead to a later block.
    size += rows[i]->is_bucket != 0 ? 1 : marks_.MayMatter(guess.block);
  }
  bool is_reached = holder_ != kNoBlock && marks_.reached(holder_);
  for (size_t i = 0; i < size; ++i) {
    uint32_t to = kept[i].block;
    Place place = Place::kStart;
    if (!kept[i].is_start) {
      const uint64_t value = values[kept[i].number];
      to = index_.Check(to, value);
      if (to == kNoBlock || marks_.settled(to)) continue;
      place = PlaceOf(value - index_.extent(to).start);
    }
    const uint64_t address = base + uint64_t{8} * places[kept[i].number];
    if (address >= words_.end) {
      const BlockIndex::Guess guess =
          BlockIndex::GuessFrom(index_.RowOf(address), address, CountBits());
      const uint32_t holder = index_.Check(guess.block, address);
      if (holder == kNoBlock) continue;
      holder_ = holder;
      words_ = WordsOf(index_.extent(holder));
      is_reached = marks_.reached(holder);
    }
    // Not between two blocks.
    if (address - words_.start >= words_.size()) continue;
    if (is_reached) {
      steps_.Add(address, holder_, to, place);
      continue;
    }
    if (holder_ != source_) {
      source_ = holder_;
      sources_.push_back(source_);
      edges_.Begin(source_, words_.start);
    }
    edges_.Add(address, to, place);
  }
  steps_.Flush();
}

template <typename CountBits>
__attribute__((always_inline)) inline void BlockPointers::AddAll(const WordSearch::Found& found) {
  for (size_t i = 0; i < found.count; i += kTogether) {
    AddSome<CountBits>(found.values + i, found.places + i, std::min(kTogether, found.count - i),
                       found.base);
  }
}

HG_COUNTS_BITS void BlockPointers::AddByHardware(const WordSearch::Found& found) {
  AddAll<HardwareBits>(found);
}

void BlockPointers::Add(const WordSearch::Found& found) {
  if (has_popcount_) {
    AddByHardware(found);
  } else {
    AddAll<PlainBits>(found);
  }
}

}  // namespace heapgauge::leaks
