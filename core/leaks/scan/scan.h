// Which blocks can still be reached: what both kinds of scan are made of (exact_scan.cc,
// sampled_scan.cc), and the scan itself.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/sinks.h"
#include "core/leaks/scan/block_index.h"
#include "core/leaks/scan/check.h"
#include "core/leaks/scan/edge_list.h"
#include "core/leaks/scan/heuristics.h"
#include "core/leaks/scan/image_reader.h"
#include "core/leaks/scan/known_blocks.h"
#include "core/leaks/scan/marks.h"
#include "core/leaks/scan/memory_image.h"
#include "core/leaks/scan/word_filter.h"

namespace heapgauge::leaks {

// jemalloc keeps a record of each run of pages it has handed out, and the record holds the address
// of the block (of the first one, where several share the pages). It is no pointer of the program:
// by it every large block (16 KiB and more) would be reachable for ever.
//
// The records are known by what they say, as jemalloc 5.3 lays them out (edata_t in its edata.h):
// three words at a multiple of 64 bytes, in which the size class and the size agree and bits that
// are always zero are. Records of other versions are taken for memory like any other.
inline constexpr uint64_t kExtentRecordAlignment = 64;
inline constexpr size_t kExtentRecordWords = 3;  // flags, address, size
inline constexpr size_t kExtentRecordAddress = 1;

// Bytes of jemalloc's size class: 8, 16, 32, 48, 64, then four for each doubling.
constexpr uint64_t ExtentClassBytes(uint32_t number) {
  if (number == 0) return 8;
  const uint32_t group = (number - 1) / 4;
  const uint64_t step = (number - 1) % 4 + 1;
  return group == 0 ? 16 * step : (uint64_t{64} + 16 * step) << (group - 1);
}

// Are these the first words of a record of pages in use? REQUIRES: kExtentRecordWords of them.
inline bool IsExtentRecord(const uint64_t* words) {
  constexpr uint64_t kPage = 4096;
  constexpr uint32_t kUsedBits = 45;
  constexpr uint64_t kSlab = uint64_t{1} << 12;
  constexpr uint64_t kState = uint64_t{7} << 17;  // 0: in use
  constexpr uint32_t kClassShift = 20;
  constexpr uint32_t kLastClass = 231;
  const uint64_t flags = words[0];
  const uint64_t address = words[kExtentRecordAddress];
  const uint64_t bytes = words[2] & ~(kPage - 1);  // the rest is a serial number
  if (bytes == 0 || address == 0 || flags >> kUsedBits != 0 || (flags & kState) != 0) return false;
  const auto number = static_cast<uint32_t>(flags >> kClassShift & 0xff);
  if (number > kLastClass) return false;
  const uint64_t block = ExtentClassBytes(number);
  // Small blocks share a slab. A large one has its pages alone, and one more to begin anywhere in.
  if ((flags & kSlab) != 0) return address % kPage == 0 && block < 4 * kPage && bytes >= block;
  return address % kExtentRecordAlignment == 0 && block >= 4 * kPage &&
         (bytes == block || bytes == block + kPage);
}

// Tells `finder` of words that were read from `address`, without those by which records name
// blocks.
template <typename Finder>
void AddWithoutExtentRecords(const uint64_t* words, size_t count, uint64_t address, uint32_t source,
                             Finder* finder) {
  constexpr size_t kStep = kExtentRecordAlignment / 8;
  size_t told = 0;
  size_t at = (kStep - address / 8 % kStep) % kStep;
  for (; at + kExtentRecordWords <= count; at += kStep) {
    if (!IsExtentRecord(words + at)) continue;
    const size_t name = at + kExtentRecordAddress;
    finder->Add(words + told, name - told, address + told * 8, source);
    told = name + 1;
  }
  finder->Add(words + told, count - told, address + told * 8, source);
}

// A word of memory, or a register, that was looked at.
struct Pointer {
  uint64_t value = 0;
  uint64_t address = 0;        // where it is
  uint32_t source = kNoBlock;  // the block that it is in
};

// Goes through words of memory and tells which blocks they point to. Look-ups wait for memory, so
// candidates are gathered, and each step of the look-up is done for all of them while the next
// ones' memory is on its way.
//
// Owned by one thread. Holds some 30 KiB.
//
// Sink has
//   void Prefetch(const Pointer& pointer, uint32_t block);  // perhaps before OnBlock
//   void OnBlock(const Pointer& pointer, uint32_t block, Place place);
//   void OnOther(const Pointer& pointer);             // into the range, but into no block
//   void OnBatch();                                   // after some of them
// in the order of the words.
template <typename Sink>
class PointerFinder {
 public:
  static constexpr size_t kBatch = 160;

  // Looks at values in [low, low + span), which holds at least all blocks. Both must outlive it.
  // No more than about `batch` pointers are told together.
  PointerFinder(const BlockIndex* index, uint64_t low, uint64_t span, Sink* sink,
                size_t batch = kBatch)
      : index_(*index),
        low_(low),
        span_(span),
        sink_(sink),
        limit_(std::min(batch, kBatch)),
        filter_(BestWordFilter()) {}

  // `count` words that were read from `address`.
  void Add(const uint64_t* words, size_t count, uint64_t address, uint32_t source) {
    while (count != 0) {
      const size_t part = std::min({count, kPart, limit_});
      if (size_ + part > limit_) Flush();
      const size_t found = filter_(words, part, low_, span_, found_.data());
      for (size_t i = 0; i < found; ++i) {
        batch_[size_++] = {words[found_[i]], address + found_[i] * 8, source};
      }
      words += part;
      count -= part;
      address += part * 8;
    }
  }

  // All that was added has been told afterwards.
  void Flush() {
    for (size_t i = 0; i < size_; ++i) {
      row_[i] = index_.RowOf(batch_[i].value);
      __builtin_prefetch(row_[i]);
    }
    for (size_t i = 0; i < size_; ++i) {
      guess_[i] = index_.GuessFrom(row_[i], batch_[i].value, BlockIndex::Bits);
      if (guess_[i].is_start) {
        sink_->Prefetch(batch_[i], guess_[i].block);
      } else if (guess_[i].block != kNoBlock) {
        __builtin_prefetch(&index_.extent(guess_[i].block));
      }
    }
    for (size_t i = 0; i < size_; ++i) {
      const Pointer& pointer = batch_[i];
      if (guess_[i].is_start) {
        sink_->OnBlock(pointer, guess_[i].block, Place::kStart);
        continue;
      }
      const uint32_t block = index_.Check(guess_[i].block, pointer.value);
      if (block == kNoBlock) {
        sink_->OnOther(pointer);
      } else {
        sink_->OnBlock(pointer, block, PlaceOf(pointer.value - index_.extent(block).start));
      }
    }
    size_ = 0;
    sink_->OnBatch();
  }

 private:
  static constexpr size_t kPart = 96;
  const BlockIndex& index_;
  uint64_t low_;
  uint64_t span_;
  Sink* sink_;
  size_t limit_;
  WordFilter filter_;
  size_t size_ = 0;
  std::array<uint32_t, kPart + 4> found_;
  std::array<Pointer, kBatch> batch_;
  std::array<const BlockIndex::Row*, kBatch> row_;
  std::array<BlockIndex::Guess, kBatch> guess_;
};

struct ScanOptions {
  uint32_t heuristics = ~0u;  // bit n: Heuristic n counts
  ProgressSink* progress = nullptr;
};

// What both kinds of scan are made of: of all blocks (exact_scan.cc) and of some (sampled_scan.cc).
// Only scan.cc and these two use it.
//
// Owned by one thread.
struct ScanState {
  ScanState(const MemoryImage& image, const std::vector<KnownBlock>& blocks, const Roots& all_roots,
            const ScanOptions& options)
      : memory(image),
        roots(all_roots),
        index(blocks),
        marks(image, index, all_roots, options.heuristics),
        edges(index.size()),
        reader(image),
        progress(options.progress) {}

  void Tell() {
    if (progress == nullptr) return;
    progress->Report("searching memory for pointers",
                     reader.read_bytes() + reader.unreadable_bytes(), total_bytes, "bytes");
  }

  const MemoryImage& memory;
  const Roots& roots;
  BlockIndex index;
  Marks marks;
  EdgeList edges;  // of blocks that were not reached when they were read
  RangeReader reader;
  ProgressSink* progress;
  uint64_t total_bytes = 0;    // that will be read, about
  uint64_t other_cpu_ns = 0;   // that was spent elsewhere
  bool may_search = true;      // have memory searched where it is
  bool search_failed = false;  // midway: there are no verdicts
  // How many pointers are told together, and how many are kept before they are followed; tests take
  // few.
  size_t batch = PointerFinder<int>::kBatch;
  size_t follow_together = 8 * 1024;
};

// Judges pointers into the middle of blocks; see Marks.
bool JudgeInteriors(ScanState* state);
void TrimInteriors(ScanState* state);

// Tells `finder` of words that lie in no known block.
template <typename Finder>
void AddUnowned(const Roots& roots, const uint64_t* words, size_t count, uint64_t address,
                Finder* finder) {
  if (roots.has_extent_records) {
    AddWithoutExtentRecords(words, count, address, kNoBlock, finder);
  } else {
    finder->Add(words, count, address, kNoBlock);
  }
}

// Tells `finder` of all words of roots that lie in no block.
template <typename Finder>
void ReadRoots(ScanState* state, Finder* finder) {
  for (const RootRange& root : state->roots.ranges) {
    uint64_t start = root.range.start;
    uint32_t block = state->index.FirstEndingAfter(start);
    while (start < root.range.end) {
      const bool last =
          block >= state->index.size() || state->index.extent(block).start >= root.range.end;
      const uint64_t end = last ? root.range.end : state->index.extent(block).start;
      state->reader.Read(start, end, [&](uint64_t address, const uint64_t* words, size_t count) {
        AddUnowned(state->roots, words, count, address, finder);
        state->Tell();
      });
      if (last) break;
      start = state->index.extent(block++).end;
    }
  }
  finder->Flush();
}

// Follows edges of blocks that are possibly lost, then groups what is left.
void FinishLostBlocks(ScanState* state, std::vector<uint32_t> possible);

void ScanExact(ScanState* state);
void ScanSampled(ScanState* state);
void ScanAll(ScanState* state, bool exact);

struct ScanResult {
  std::vector<Verdict> verdicts;  // of each block
  uint64_t scanned_bytes = 0;
  uint64_t unreadable_bytes = 0;
  uint64_t cpu_ns = 0;  // of all who worked for it
};

// Which blocks can still be reached: follows pointers from the roots through all blocks, and tells
// memcheck's nine cases apart.
//
// A pointer is an aligned word whose value lies in a block. First everything that is reached by
// starts of blocks alone is found, then what only pointers to the middle of blocks lead to; what is
// left is lost, and is put into cliques: each has a leader that no other lost block points to (in a
// circle any one), and the rest of it is lost indirectly.
//
// Where not all blocks are known (`exact` is false), memory of the heap outside of known blocks is
// searched as well. It belongs to blocks that nobody knows, or was freed.
// - A pointer from a root, or from memory that is reached, to such memory reaches the 4 KiB from
//   there, up to the next known block or the end of the heap's range; what is found in them counts
//   as found in a root. So a chain through unknown blocks makes a known one reachable, and a
//   pointer to its middle possibly lost.
// - A known block to which only unreached unknown memory points is possibly lost.
// - A known block to which only lost known blocks point is indirectly lost, and one to which
// nothing
//   points definitely.
// - Verdict::from is kNoBlock for pointers in unknown memory too.
//
// Reads each byte of roots and blocks once, in the order of addresses, through a buffer (sampled:
// in sweeps). Memory is 44 bytes for each block and 8 for each pointer to what is not known to be
// reached when it is read; sampled, also 32 bytes for each KiB of unknown memory that is reached in
// part. Where memory searches itself (memory_image.h) and that fails midway, all is read after all.
// Single-threaded.
//
// REQUIRES: `blocks` by address, without overlaps.
ScanResult Scan(const MemoryImage& image, const std::vector<KnownBlock>& blocks, bool exact,
                const Roots& roots, const ScanOptions& options);

}  // namespace heapgauge::leaks
