// From the address of a live block to its slot in the BlockPool: a look-up for every event of a
// traced program, so each mostly takes one line of the cache and no branch that is hard to guess.
//
// A line has seven places and a word with a byte for each of them: a mark from the hash of what is
// there, 0 if nothing. All seven are compared at once. What does not fit goes to the next line that
// has room; the last byte of the word counts how many have passed by, so that a search knows where
// to end. A search that meets the mark and 32 more bits of the hash looks at the address of the
// block itself, so answers are exact.
//
// The lines are in 256 parts by hash, so that growing one never takes long; they shrink again.
// Prefetch and PrefetchBlock let a caller look up many addresses without waiting for memory at
// each.
//
// One thread. Memory: 16 to 64 bytes for each block.
#ifndef HEAPGAUGE_CORE_TRACE_RECORD_ADDRESS_INDEX_H_
#define HEAPGAUGE_CORE_TRACE_RECORD_ADDRESS_INDEX_H_

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "core/trace/record/live_blocks.h"

namespace heapgauge::trace {

class AddressIndex {
 public:
  static constexpr uint32_t kNoSlot = BlockPool::kNoSlot;
  // The pool must outlive it.
  explicit AddressIndex(const BlockPool* pool);

  static uint64_t Hash(uint64_t address) { return (address >> 3) * 0x9e3779b97f4a7c15; }
  void Prefetch(uint64_t hash) const { __builtin_prefetch(HomeOf(hash), 1); }
  // The slot that is probably meant, or kNoSlot. REQUIRES: Prefetch some time before, to be of use.
  uint32_t PrefetchBlock(uint64_t hash) const;

  uint32_t Find(uint64_t address, uint64_t hash) const {
    const Place found = FindPlace(address, hash);
    return found.line != nullptr ? found.line->entries[found.number].slot : kNoSlot;
  }
  // Takes the address out; its slot, or kNoSlot.
  uint32_t Remove(uint64_t address, uint64_t hash) {
    const Place found = FindPlace(address, hash);
    if (found.line == nullptr) [[unlikely]]
      return kNoSlot;
    const uint32_t slot = found.line->entries[found.number].slot;
    found.line->Clear(found.number);
    if (found.line != HomeOf(hash)) [[unlikely]]
      TakeBack(hash, found.line);
    Population& population = populations_[PartOf(hash)];
    if (--population.count < population.least) [[unlikely]]
      Resize(PartOf(hash), LinesOf(PartOf(hash)) / 2);
    return slot;
  }
  // Puts a slot in; the one that had this address before, or kNoSlot.
  uint32_t Put(uint64_t address, uint64_t hash, uint32_t slot) {
    const Place found = FindPlace(address, hash);
    if (found.line != nullptr) [[unlikely]]
      return std::exchange(found.line->entries[found.number].slot, slot);
    Population& population = populations_[PartOf(hash)];
    if (population.count++ >= population.most) [[unlikely]]
      Resize(PartOf(hash), LinesOf(PartOf(hash)) * 2);
    Insert(parts_[PartOf(hash)], MarkOf(hash), {TagOf(hash), slot});
    return kNoSlot;
  }
  size_t bytes() const;

 private:
  static constexpr uint32_t kPlaces = 7;
  static constexpr uint64_t kOnes = 0x0001'0101'0101'0101;  // in the byte of each place
  static constexpr uint64_t kHighs = kOnes << 7;
  static constexpr int kPassedShift = 8 * kPlaces;
  static constexpr uint64_t kMostPassed = 255;  // or more: they are no longer counted

  struct Entry {
    uint32_t tag;
    uint32_t slot;
  };
  struct alignas(64) Line {
    uint64_t marks = 0;  // the lowest byte is that of the first place
    Entry entries[kPlaces];

    // The high bits of the bytes of places that have the mark. Above one that does there may be
    // others that do not.
    uint64_t Matches(uint64_t mark) const {
      const uint64_t differing = marks ^ mark * kOnes;  // 0 where it is
      return (differing - kOnes) & ~differing & kHighs;
    }
    // The same of places with nothing there.
    uint64_t Empty() const { return ~marks & kHighs; }
    uint64_t passed() const { return marks >> kPassedShift; }
    void Fill(uint32_t place, uint64_t mark, const Entry& entry) {
      marks |= mark << 8 * place;
      entries[place] = entry;
    }
    void Clear(uint32_t place) { marks &= ~(uint64_t{255} << 8 * place); }
  };
  static_assert(sizeof(Line) == 64);
  struct Part {
    std::unique_ptr<Line[]> lines;
    uint64_t last = 0;  // of them, in bytes from the first

    // That of a tag.
    Line* Home(uint64_t tag) const { return At(tag * sizeof(Line) & last); }
    // The one behind, or the first behind the last.
    Line* Next(const Line* line) const {
      return At((reinterpret_cast<uintptr_t>(line + 1) - reinterpret_cast<uintptr_t>(lines.get())) &
                last);
    }

   private:
    Line* At(uint64_t bytes) const {
      return reinterpret_cast<Line*>(reinterpret_cast<char*>(lines.get()) + bytes);
    }
  };
  // How many are in a part.
  struct Population {
    uint32_t count = 0;
    uint32_t least = 0;  // with fewer it shrinks
    uint32_t most = 0;   // with more it grows
  };
  struct Place {
    Line* line;  // nullptr: there is none
    uint32_t number;
  };

  static size_t PartOf(uint64_t hash) { return hash >> 56; }
  static uint32_t TagOf(uint64_t hash) { return static_cast<uint32_t>(hash >> 24); }
  // Never 0, and its high bit says so.
  static uint64_t MarkOf(uint64_t hash) { return 0x80 | (hash >> 17 & 0x7f); }
  static uint32_t NumberOf(uint64_t high_bits) {
    return static_cast<uint32_t>(std::countr_zero(high_bits)) / 8;
  }
  Line* HomeOf(uint64_t hash) const { return parts_[PartOf(hash)].Home(TagOf(hash)); }
  uint32_t LinesOf(size_t part) const {
    return static_cast<uint32_t>(parts_[part].last / sizeof(Line)) + 1;
  }

  Place FindPlace(uint64_t address, uint64_t hash) const {
    const Part& part = parts_[PartOf(hash)];
    Line* const home = part.Home(TagOf(hash));
    Line* line = home;
    do {
      for (uint64_t matches = line->Matches(MarkOf(hash)); matches != 0; matches &= matches - 1) {
        const uint32_t number = NumberOf(matches);
        const Entry& entry = line->entries[number];
        if (entry.tag == TagOf(hash) && (*pool_)[entry.slot].address == address) [[likely]]
          return {line, number};
      }
      if (line->passed() == 0) [[likely]]
        break;
      line = part.Next(line);
    } while (line != home);
    return {nullptr, 0};
  }
  // REQUIRES: there is room.
  static void Insert(const Part& part, uint64_t mark, const Entry& entry) {
    Line* line = part.Home(entry.tag);
    while (line->Empty() == 0) [[unlikely]] line = PassBy(part, line);
    line->Fill(NumberOf(line->Empty()), mark, entry);
  }
  [[gnu::noinline]] static Line* PassBy(const Part& part, Line* line);
  [[gnu::noinline]] void TakeBack(uint64_t hash, const Line* line);
  void SetSize(size_t part, uint32_t lines);
  [[gnu::noinline]] void Resize(size_t part, uint32_t lines);

  const BlockPool* pool_;
  std::array<Part, 256> parts_;
  std::array<Population, 256> populations_;
};

}  // namespace heapgauge::trace

#endif  // HEAPGAUGE_CORE_TRACE_RECORD_ADDRESS_INDEX_H_
