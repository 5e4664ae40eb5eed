// Blocks of an exact trace, sets of them by number, and where the events of their lives go.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace heapgauge::trace {

inline constexpr uint64_t kNever = UINT64_MAX;    // as a time
inline constexpr uint64_t kNoBlock = UINT64_MAX;  // as a number
inline constexpr uint32_t kNoIndex = UINT32_MAX;

// Block::distance of a block that another thread freed, or that nobody did.
inline constexpr uint32_t kForeign = UINT32_MAX;

// What is known of a block from the moment it is there.
struct Birth {
  uint64_t number = 0;  // allocations are numbered from 0 in order of time, through the whole trace
  uint64_t birth_ns = 0;  // since the recording began
  uint64_t address = 0;
  uint64_t size = 0;             // as requested
  uint64_t previous = kNoBlock;  // number of the block that realloc or a cut made it of
  uint32_t thread = 0;           // index of the thread that allocated it
  uint32_t stack = 0;            // of the allocation, 0 unknown
  uint16_t slack = 0;            // bytes that the allocator gave beyond `size`; 65535: or more
  uint8_t function = 0;          // wire::AllocationFunction
  uint8_t alignment_log2 = 0;    // that was asked for; 0 none
  bool is_mapping = false;       // by mmap, not by the allocator
};

// How a block ended.
struct Death {
  uint64_t time_ns = kNever;
  uint32_t thread = kNoIndex;
  // How many allocations its thread made between birth and death, if it also freed it. 0: before
  // the next one, which is what people call temporary.
  uint32_t distance = kForeign;
};

// A block of memory in an exact trace: where, when and by whom it was allocated, and what became of
// it. A block that realloc makes of another is a new block which names the old one.
//
// Plain data.
struct Block : Birth {
  bool resized_away = false;  // it ended as the `previous` of another block
  uint64_t death_ns = kNever;
  uint32_t death_thread = kNoIndex;
  uint32_t distance = kForeign;  // see Death

  Death death() const { return {death_ns, death_thread, distance}; }
  bool is_live() const { return death_ns == kNever; }
  uint64_t lifetime_ns(uint64_t now_ns) const {
    const uint64_t end = is_live() ? now_ns : death_ns;
    return end > birth_ns ? end - birth_ns : 0;
  }
};
static_assert(sizeof(Block) == 72);  // readers have millions

// What happened at one moment. An allocation has a block that was born, a free one that died, and
// realloc both.
struct Event {
  uint64_t time_ns = 0;
  uint32_t born = kNoIndex;  // index in Segment::blocks
  uint32_t died = kNoIndex;
};

// A set of blocks of a trace, by their numbers: one bit a block, in pages that are there once a
// block of them is in it. So a file that claims more blocks than it has costs a pointer for each
// million of them.
//
// Thread-safe. Throws std::bad_alloc where there is no memory.
class MarkedBlocks {
 public:
  // Of numbers below `blocks`; others are never in it.
  explicit MarkedBlocks(uint64_t blocks) : blocks_(blocks), pages_(blocks / kPageBlocks + 1) {}
  ~MarkedBlocks() {
    for (const std::atomic<Page*>& page : pages_) delete page.load(std::memory_order_relaxed);
  }
  MarkedBlocks(const MarkedBlocks&) = delete;
  MarkedBlocks& operator=(const MarkedBlocks&) = delete;

  void Mark(uint64_t number) {
    if (number >= blocks_) return;
    Page* page = pages_[number / kPageBlocks].load(std::memory_order_acquire);
    if (page == nullptr) page = AddPage(&pages_[number / kPageBlocks]);
    (*page)[number % kPageBlocks / 64].fetch_or(uint64_t{1} << number % 64,
                                                std::memory_order_relaxed);
  }
  bool IsMarked(uint64_t number) const {
    if (number >= blocks_) return false;
    const Page* page = pages_[number / kPageBlocks].load(std::memory_order_acquire);
    return page != nullptr &&
           ((*page)[number % kPageBlocks / 64].load(std::memory_order_relaxed) >> number % 64 &
            1) != 0;
  }

 private:
  static constexpr uint64_t kPageBlocks = 1 << 20;
  using Page = std::array<std::atomic<uint64_t>, kPageBlocks / 64>;

  static Page* AddPage(std::atomic<Page*>* place) {
    auto made = std::make_unique<Page>();
    Page* there = nullptr;
    const bool first = place->compare_exchange_strong(there, made.get(), std::memory_order_acq_rel,
                                                      std::memory_order_acquire);
    return first ? made.release() : there;
  }

  uint64_t blocks_;
  std::vector<std::atomic<Page*>> pages_;
};

// Where matched events go, in order of time: a trace file as a rule, a list in tests.
//
// One thread. What is handed over is looked at during the call alone.
class EventSink {
 public:
  virtual ~EventSink() = default;
  // `block` has the next number.
  virtual void Born(const Birth& block) = 0;
  // `block` is as it was born.
  virtual void Died(const Birth& block, const Death& death) = 0;
  // Both in one event: realloc made `block`, whose previous is old.number, of `old`.
  virtual void Resized(const Birth& old, const Death& death, const Birth& block) = 0;
  // Stacks that the next births will name: memory can be asked for in time. False if that is not
  // worth it for now.
  virtual bool Expect(std::span<const uint32_t>) { return false; }
};

}  // namespace heapgauge::trace
