// Which pointers into the middle of a block count: by the rules of memcheck, and where an allocator
// keeps headers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/address_range.h"
#include "core/leaks/scan/check.h"
#include "core/leaks/scan/known_blocks.h"
#include "core/leaks/scan/memory_image.h"

namespace heapgauge::leaks {

// Where in a block a pointer points to, as far as the rules tell places apart.
enum class Place : uint8_t { kStart, kAt8, kAt24, kInside, kUnaligned };
inline constexpr uint32_t kPlaces = 5;
inline Place PlaceOf(uint64_t offset) {
  if (offset == 0) return Place::kStart;
  if (offset == 8) return Place::kAt8;
  if (offset == 24) return Place::kAt24;
  return offset % 8 == 0 ? Place::kInside : Place::kUnaligned;
}

// What the first words of a block say of it: a set of bits.
using BlockFacts = uint8_t;
inline constexpr BlockFacts kIsString = 1;
inline constexpr BlockFacts kIsLength = 2;
inline constexpr BlockFacts kIsArray = 4;
inline constexpr BlockFacts kMayBeObject = 8;  // the first word is an aligned address

// REQUIRES: first and second are the words at 0 and 8; 0 where the block is smaller.
inline BlockFacts FactsOf(uint64_t size, uint64_t first, uint64_t second) {
  BlockFacts facts = 0;
  if (second + 25 == size && second < size && first <= second) facts |= kIsString;
  if (size > 8) {
    const uint64_t rest = size - 8;
    if (first == rest) facts |= kIsLength | kIsArray;
    if (first != 0 && first < rest && rest % first == 0) facts |= kIsArray;
  }
  if (first % 8 == 0 && first >= 4096) facts |= kMayBeObject;
  return facts;
}

// Which pointers into the middle of a block count as pointers to its start, by memcheck's rules:
//
// - stdstring: 24 bytes into the block, whose second word plus 25 is its size and whose first word
//   is not larger than the second: the characters of a std::string of before C++11;
// - length64: 8 bytes into the block, whose first word is the size of the rest;
// - newarray: 8 bytes into the block, whose first word divides the size of the rest: new T[n] keeps
//   n there if T has a destructor;
// - multipleinheritance: to a word that points to a table of pointers to code, as the first word of
//   the block does: an object seen as its second base.
//
// Not thread-safe: remembers which addresses are tables of code.
class Heuristics {
 public:
  // `image` and `roots` must outlive it. Bit n of `enabled`: Heuristic n counts.
  Heuristics(const MemoryImage& image, const Roots& roots, uint32_t enabled)
      : image_(image), roots_(roots), enabled_(enabled) {}

  // What a pointer to `address` says of the block that it points into; kNone if nothing. `facts`
  // are the block's.
  Heuristic Judge(const AddressRange& block, BlockFacts facts, uint64_t address);
  // Whether any pointer to this place of a block with these facts could count.
  bool MayCount(BlockFacts facts, Place place) const;

 private:
  bool Enabled(Heuristic heuristic) const {
    return (enabled_ >> static_cast<uint32_t>(heuristic) & 1) != 0;
  }
  bool ReadWord(uint64_t address, uint64_t* word) const {
    return image_.Read(address, sizeof *word, word) == sizeof *word;
  }
  bool IsCodeTable(uint64_t address);
  bool LooksLikeCodeTable(uint64_t address) const;

  const MemoryImage& image_;
  const Roots& roots_;
  uint32_t enabled_;
  std::unordered_map<uint64_t, bool> tables_;
};

// Programs with an allocator of their own keep a header in front of what they hand out, and hold
// their blocks by what is behind it (MariaDB's my_malloc does). All that a check sees then is
// pointers into the middle, so that the blocks are possibly lost, as memcheck says too. That all of
// them point so many bytes behind the start tells what it is.
struct BlockHeaders {
  uint64_t bytes = 0;    // of one
  size_t blocks = 0;     // that are held behind it
  size_t looked_at = 0;  // possibly lost ones among which these are
  bool all_seen = true;  // there are no others: of very many only some are looked at
};

// Of possibly lost blocks. Nothing if there are few, or their pointers have nothing in common.
// REQUIRES: verdicts are those of the blocks.
std::optional<BlockHeaders> FindBlockHeaders(const MemoryImage& image,
                                             const std::vector<KnownBlock>& blocks,
                                             const std::vector<Verdict>& verdicts);

std::string NoteOf(const BlockHeaders& headers);

}  // namespace heapgauge::leaks
