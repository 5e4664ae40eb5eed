// Tables for millions of small things, each in one block of memory: numbers of pairs, values of
// addresses, bits with their ranks.
//
// None is synchronised.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace heapgauge {

// Numbers for pairs of ids, as a trie needs them to find the child of a node, or for other words of
// 64 bits, in one block of memory: trees of a million nodes are common.
class PairIndex {
 public:
  explicit PairIndex(size_t expected) {
    size_t slots = 16;
    while (slots < 2 * expected) slots *= 2;
    slots_.resize(slots);
  }

  // The number of the pair, or `next` if it is new.
  uint32_t Find(uint32_t a, uint32_t b, uint32_t next) {
    return FindWord(uint64_t{a} << 32 | b, next);
  }
  // The same for what is one word by nature.
  uint32_t FindWord(uint64_t word, uint32_t next) {
    if (2 * (count_ + 1) > slots_.size()) Grow();
    Slot& slot = At(word);
    if (slot.number == kFree) {
      slot = {word, next};
      ++count_;
    }
    return slot.number;
  }
  size_t size() const { return count_; }

 private:
  static constexpr uint32_t kFree = 0xffffffff;
  struct Slot {
    uint64_t key = 0;
    uint32_t number = kFree;
  };

  Slot& At(uint64_t key) {
    const size_t mask = slots_.size() - 1;
    uint64_t hash = key * 0x9e3779b97f4a7c15ull;
    hash ^= hash >> 32;
    size_t at = static_cast<size_t>(hash * 0xd6e8feb86659fd93ull >> 16) & mask;
    while (slots_[at].number != kFree && slots_[at].key != key) at = (at + 1) & mask;
    return slots_[at];
  }

  void Grow() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.number != kFree) At(slot.key) = slot;
    }
  }

  std::vector<Slot> slots_;
  size_t count_ = 0;
};

// A map from addresses of bytes in a file to anything, for the few million look-ups of a large
// profile: one array that is probed in order, values beside it.
//
// Values keep their place.
template <typename Value>
class PointerMap {
 public:
  PointerMap() : slots_(kFirstSize) {}

  // The value of that key, made if there is none; `*is_new` tells.
  Value* Get(const void* key, bool* is_new) {
    Slot* slot = Probe(key);
    *is_new = slot->value == nullptr;
    if (!*is_new) return slot->value;
    Value* value = &values_.emplace_back();
    *slot = {key, value};
    if (values_.size() * 2 > slots_.size()) Grow();
    return value;
  }

 private:
  static constexpr size_t kFirstSize = 256;
  struct Slot {
    const void* key = nullptr;
    Value* value = nullptr;
  };

  // Both halves take part, so that nobody can choose keys that all collide without knowing where
  // the file lies in memory.
  static uint64_t Hash(const void* key) {
    uint64_t h = reinterpret_cast<uintptr_t>(key);
    h = (h ^ h >> 32) * 0xd6e8feb86659fd93ull;
    h = (h ^ h >> 32) * 0xd6e8feb86659fd93ull;
    return h ^ h >> 32;
  }
  Slot* Probe(const void* key) {
    const size_t mask = slots_.size() - 1;
    size_t at = static_cast<size_t>(Hash(key)) & mask;
    while (slots_[at].value != nullptr && slots_[at].key != key) at = (at + 1) & mask;
    return &slots_[at];
  }
  void Grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.value != nullptr) *Probe(slot.key) = slot;
    }
  }

  std::vector<Slot> slots_;  // a power of two
  std::deque<Value> values_;
};

// Bits that know how many of those before them are set: a small table can so stand in for a large
// one that is mostly empty. An eighth of a byte for each bit, and half of that again for the
// counts.
//
// Set() all, then Count() once, then ask; from then on any number of threads may ask.
class RankedBits {
 public:
  RankedBits() = default;
  // REQUIRES: fewer than 2^32.
  explicit RankedBits(size_t size) : words_(size / 64 + 1) {}

  void Set(size_t i) { words_[i / 64] |= uint64_t{1} << (i % 64); }
  bool operator[](size_t i) const { return (words_[i / 64] >> (i % 64) & 1) != 0; }

  void Count() {
    before_.resize(words_.size());
    uint32_t sum = 0;
    for (size_t i = 0; i < words_.size(); ++i) {
      before_[i] = sum;
      sum += static_cast<uint32_t>(std::popcount(words_[i]));
    }
    ones_ = sum;
  }

  size_t ones() const { return ones_; }
  // 64 of them: bit i is the lowest of word i / 64.
  size_t words() const { return words_.size(); }
  uint64_t word(size_t i) const { return words_[i]; }
  // How many of the bits before `i` are set.
  uint32_t Rank(size_t i) const {
    const uint64_t below = words_[i / 64] & ((uint64_t{1} << (i % 64)) - 1);
    return before_[i / 64] + static_cast<uint32_t>(std::popcount(below));
  }

 private:
  std::vector<uint64_t> words_;
  std::vector<uint32_t> before_;  // by word
  size_t ones_ = 0;
};

}  // namespace heapgauge
