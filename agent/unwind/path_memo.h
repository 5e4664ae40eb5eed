// Remembers by which ways a thread came to the places that it was asked at lately. A program comes
// to a place by the same few ways again and again: where only the hash of a stack is wanted, as for
// every event of a trace, nothing has to be stepped through then (Walker::Recall).
//
// A path is the inner part of a stack: it leads from the state of the caller to one of the frames
// that a Walker remembers, by the words that the steps between read. All of them lie on the
// thread's own stack and may be read in any order.
//
// Several paths may lead to one place. Where they do not come again, looking for them is given up
// for a while.
//
// One for each Walker, used as that is; zero-initialised memory knows no path. A path that is
// being written when a signal handler jumps away is not there. 25 KiB, touched as they are needed.
// Allocation-free, async-signal-safe, no locks.
#pragma once

#include <atomic>
#include <cstdint>

namespace heapgauge::agent {

// In the order of what is looked at: of a short one two cache lines.
struct alignas(64) Path {
  static constexpr uint32_t kMaxWords = 11;
  static constexpr uint32_t kFewWords = 4;  // at least so many
  static constexpr uint8_t kStart = 1;
  static constexpr uint8_t kEnd = 2;

  // The state that it begins with.
  uintptr_t pc;
  uintptr_t sp;
  uint64_t end_hash;  // of the frame that it leads to
  // For who asks: the number that the stack was given, 0 if none, and what that depends on.
  uint64_t layout;
  uint32_t number;
  uint16_t labels;
  // The rest is for the Walker.
  uint8_t words;
  uint8_t uses_fp;      // kStart: a step needs the first fp, kEnd: that at the end
  uint32_t generation;  // unwind_generation when it was found
  uint16_t end;         // which of the remembered frames it leads to
  uint16_t end_offset;  // and its sp, as `offset`
  // The words that decide about the way: how far from sp, in words, and what was read there.
  uint16_t offset[kMaxWords];
  uintptr_t word[kMaxWords];
  uint64_t hash;  // of the stack
  uintptr_t fp;
  uintptr_t end_fp;

  // If a signal handler jumps away in between, none is known.
  void Know(uint32_t its_number, uint64_t its_layout, uint16_t its_labels) {
    number = 0;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    layout = its_layout;
    labels = its_labels;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    number = its_number;
  }
};
static_assert(sizeof(Path) == 192);

class PathMemo {
 public:
  // What the paths to a place are found by; never 0. Other places may have the same.
  static uint64_t KeyOf(uintptr_t pc, uintptr_t sp) {
    return (pc + (uint64_t{sp} << 16)) * 0x9e3779b97f4a7c15u | 1;
  }

  // The first path with this key, and the next behind one; nullptr if there is none. Found by
  // branches: the processor guesses which it will be and does not wait for the keys.
  Path* First(uint64_t key) { return Search(key, 0); }
  Path* Next(uint64_t key, const Path* path) {
    return Search(key, static_cast<uint32_t>(path - paths_[SetOf(key)]) + 1);
  }

  // Gives up the oldest path of the set for one with this key, which is there when AddKey says so.
  Path* TakePlace(uint64_t key) {
    const uint32_t set = SetOf(key);
    const uint32_t way = next_[set]++ % kWays;
    keys_[set][way] = 0;
    return &paths_[set][way];
  }
  void AddKey(uint64_t key, const Path* path) {
    const uint32_t set = SetOf(key);
    keys_[set][path - paths_[set]] = key;
  }

  // To be asked before each walk: is it worth looking for a path? Hit or Miss tells what came of
  // it.
  bool IsOfUse() {
    if (pause_ == 0) [[likely]]
      return true;
    if (--pause_ == 0) misses_ = 0;
    return false;
  }
  void Hit() { misses_ -= misses_ != 0; }
  void Miss() {
    if (++misses_ == kPatience) pause_ = kPause;
  }

 private:
  static constexpr int kSetBits = 5;
  static constexpr uint32_t kSets = 1 << kSetBits;
  static constexpr uint32_t kWays = 4;
  static constexpr uint32_t kPatience = 32;  // so many misses more than hits
  static constexpr uint32_t kPause = 2048;   // walks

  Path* Search(uint64_t key, uint32_t way) {
    const uint32_t set = SetOf(key);
    for (; way < kWays; ++way) {
      if (keys_[set][way] == key) return &paths_[set][way];
    }
    return nullptr;
  }
  static uint32_t SetOf(uint64_t key) { return static_cast<uint32_t>(key >> (64 - kSetBits)); }

  uint32_t misses_;
  uint32_t pause_;
  uint8_t next_[kSets];
  alignas(64) uint64_t keys_[kSets][kWays];  // 0: none
  Path paths_[kSets][kWays];
};

}  // namespace heapgauge::agent
