#include "core/leaks/scan/block_pointers.h"

#include <algorithm>

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
    uint32_t number;
    uint32_t block;
    bool is_start;
  };
  Kept kept[kTogether];
  size_t size = 0;
  for (size_t i = 0; i < count; ++i) {
    const BlockIndex::Guess guess = BlockIndex::GuessFrom(rows[i], values[i], CountBits());
    kept[size] = {static_cast<uint32_t>(i), guess.block, guess.is_start};
    size += marks_.MayMatter(guess.block, rows[i]->is_bucket != 0) ? 1 : 0;
  }
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
    const BlockIndex::Guess guess =
        BlockIndex::GuessFrom(index_.RowOf(address), address, CountBits());
    const uint32_t source = index_.Check(guess.block, address);
    // Not between two blocks.
    if (source == kNoBlock || index_.extent(source).end - address < 8) continue;
    if (source != source_) {
      source_ = source;
      sources_.push_back(source);
      edges_.Begin(source, WordsOf(index_.extent(source)).start);
    }
    edges_.Add(address, to, place);
  }
}

template <typename CountBits>
__attribute__((always_inline)) inline void BlockPointers::AddAll(const WordSearch::Found& found) {
  for (size_t i = 0; i < found.count; i += kTogether) {
    AddSome<CountBits>(found.values + i, found.places + i, std::min(kTogether, found.count - i),
                       found.base);
  }
}

__attribute__((target("popcnt"))) void BlockPointers::AddByHardware(
    const WordSearch::Found& found) {
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
