#include "core/memory/ownership.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>

namespace heapgauge {
namespace {

// Words at a few addresses, zeros between them; nothing above 1 TiB.
class SparseMemory final : public ByteSource {
 public:
  uint64_t Size() const override { return 0; }
  size_t ReadAt(uint64_t offset, void* buffer, size_t size) const override {
    if (offset >= uint64_t{1} << 40) return 0;
    std::memset(buffer, 0, size);
    for (size_t at = 0; at + 8 <= size; at += 8) {
      const auto it = words.find(offset + at);
      if (it != words.end()) std::memcpy(static_cast<char*>(buffer) + at, &it->second, 8);
    }
    return size;
  }
  void Chunk(uint64_t at, uint64_t size, uint64_t front = 0) {
    words[at] = front;
    words[at + 8] = size | 2;
  }
  std::map<uint64_t, uint64_t> words;
};

MappingUsage Anonymous(uint64_t start, uint64_t end) {
  MappingUsage m;
  m.start = start;
  m.end = end;
  m.readable = m.writable = true;
  return m;
}

constexpr uint64_t kHeap = uint64_t{64} << 20;

TEST(GlibcHeap, FindsArenasByTheirHeaders) {
  SparseMemory memory;
  const uint64_t first = 10 * kHeap;
  memory.words[first] = first + 0x30;  // the arena itself is behind
  memory.words[first + 16] = 0x21000;
  memory.words[first + 24] = 0x24000;
  const uint64_t second = 11 * kHeap;  // a further heap of it, merged with other memory
  memory.words[second] = first + 0x30;
  memory.words[second + 8] = first;
  memory.words[second + 16] = 0x1000;
  memory.words[second + 24] = 0x1000;
  const uint64_t other = 12 * kHeap;  // aligned, but something else
  memory.words[other] = 42;
  const GlibcRanges ranges = FindGlibcRanges(
      {Anonymous(first, first + 0x24000), Anonymous(second - 0x5000, second + 0x8000),
       Anonymous(other, other + 0x10000)},
      {}, memory);
  EXPECT_TRUE(ranges.complete);
  const std::vector<AddressRange> expected = {{first, first + 0x24000}, {second, second + 0x1000}};
  EXPECT_EQ(ranges.arenas, expected);
  EXPECT_TRUE(ranges.chunks.empty());
}

TEST(GlibcHeap, FollowsMappedChunksThroughMergedMappings) {
  SparseMemory memory;
  memory.Chunk(0x100000, 0x21000);
  memory.Chunk(0x121000, 0x40000);
  // Something else follows, and behind that a chunk which only its block tells of.
  memory.words[0x161008] = 0x123457;
  memory.Chunk(0x170ff0, 0x30010, 0xff0);  // aligned: the header is not at the start
  const GlibcRanges ranges =
      FindGlibcRanges({Anonymous(0x100000, 0x200000)}, {0x100010, 0x171000}, memory);
  const std::vector<AddressRange> expected = {{0x100000, 0x161000}, {0x170000, 0x1a1000}};
  EXPECT_EQ(ranges.chunks, expected);
}

TEST(GlibcHeap, BelievesNoHeaderThatReachesTooFar) {
  SparseMemory memory;
  memory.Chunk(0x100000, 0x900000);
  memory.Chunk(0x300000, ~uint64_t{0xfff});
  memory.Chunk(0x400000, 0x1000, 0x500000);
  const GlibcRanges ranges = FindGlibcRanges(
      {Anonymous(0x100000, 0x110000), Anonymous(0x300000, 0x310000), Anonymous(0x400000, 0x410000)},
      {0x300010, 0x400010}, memory);
  EXPECT_TRUE(ranges.chunks.empty());
  EXPECT_TRUE(ranges.arenas.empty());
}

TEST(GlibcHeap, GuessesArenasByTheirPlace) {
  std::vector<MappingUsage> mappings = {Anonymous(10 * kHeap, 10 * kHeap + 0x21000),
                                        Anonymous(11 * kHeap, 11 * kHeap + 0x21000),
                                        Anonymous(12 * kHeap + 0x1000, 12 * kHeap + 0x21000)};
  mappings[0].no_reserve = mappings[2].no_reserve = true;
  const std::vector<AddressRange> expected = {{10 * kHeap, 10 * kHeap + 0x21000}};
  EXPECT_EQ(GuessGlibcArenas(mappings), expected);
}

TEST(GlibcHeap, IsIncompleteWhereMemoryCannotBeRead) {
  const SparseMemory memory;
  const uint64_t far = uint64_t{1} << 41;
  EXPECT_FALSE(FindGlibcRanges({Anonymous(far, far + 0x1000)}, {}, memory).complete);
}

}  // namespace
}  // namespace heapgauge
