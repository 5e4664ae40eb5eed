#include "core/memory/glibc_heap.h"

#include <algorithm>

namespace heapgauge {
namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kHeapBytes = uint64_t{64} << 20;  // arenas consist of heaps at multiples of this
constexpr uint64_t kHeaderBytes = 16;                // of a chunk
constexpr uint64_t kIsMapped = 2;                    // in the lowest three bits of a chunk's size
constexpr uint64_t kFlagBits = 7;
constexpr int kMaxReads = 200'000;

// As glibc lays out the beginning of a heap.
struct HeapInfo {
  uint64_t arena;
  uint64_t previous;
  uint64_t size;
  uint64_t accessible;
};

struct ChunkHeader {
  uint64_t previous;  // of a mapped chunk: unused bytes in front of it
  uint64_t size;
};

class Search {
 public:
  Search(const std::vector<uint64_t>& blocks, const ByteSource& memory)
      : blocks_(blocks), memory_(memory) {}

  void Look(const MappingUsage& m) {
    LookForArenas(m);
    LookForChunks(m);
  }

  GlibcRanges Finish(bool any_readable) {
    ranges_.arenas = Merged(std::move(ranges_.arenas));
    ranges_.chunks = Merged(std::move(ranges_.chunks));
    ranges_.complete = any_readable && reads_ < kMaxReads && could_read_;
    return std::move(ranges_);
  }

 private:
  template <typename T>
  bool Read(uint64_t address, T* value) {
    if (reads_ >= kMaxReads) return false;
    ++reads_;
    const bool ok = memory_.ReadAt(address, value, sizeof *value) == sizeof *value;
    could_read_ |= ok;
    return ok;
  }

  void LookForArenas(const MappingUsage& m) {
    for (uint64_t at = (m.start + kHeapBytes - 1) / kHeapBytes * kHeapBytes;
         at >= m.start && at < m.end && m.end - at >= kPage; at += kHeapBytes) {
      HeapInfo info{};
      if (!Read(at, &info)) return;
      const bool right = info.arena != 0 && info.arena % 16 == 0 && info.size >= kPage &&
                         info.size % kPage == 0 && info.size <= info.accessible &&
                         info.accessible <= kHeapBytes && info.previous % kHeapBytes == 0 &&
                         // The first heap holds its arena right behind; others name one before.
                         (info.previous != 0 ? info.arena / kHeapBytes != at / kHeapBytes
                                             : info.arena - at <= 256);
      if (right) ranges_.arenas.push_back({at, std::min(at + info.accessible, m.end)});
    }
  }

  // Chunks follow each other where the kernel merged their mappings.
  uint64_t TakeChunks(uint64_t at, uint64_t end) {
    while (at < end) {
      ChunkHeader header{};
      if (!Read(at, &header)) break;
      const uint64_t size = header.size & ~kFlagBits;
      // A block with an alignment of its own has unused bytes in front; then the header is further
      // in, and the block itself tells.
      if ((header.size & kFlagBits) != kIsMapped || size == 0 || size % kPage != 0 ||
          size > end - at || header.previous != 0) {
        break;
      }
      ranges_.chunks.push_back({at, at + size});
      at += size;
    }
    return at;
  }

  void LookForChunks(const MappingUsage& m) {
    TakeChunks(m.start, m.end);
    auto it = std::lower_bound(blocks_.begin(), blocks_.end(), m.start);
    for (uint64_t from = m.start; it != blocks_.end() && *it < m.end; ++it) {
      if (*it < from + kHeaderBytes) continue;
      ChunkHeader header{};
      if (!Read(*it - kHeaderBytes, &header)) return;
      const uint64_t size = header.size & ~kFlagBits;
      const uint64_t front = *it - kHeaderBytes - header.previous;
      if ((header.size & kFlagBits) != kIsMapped ||
          header.previous > *it - kHeaderBytes - m.start || front % kPage != 0 || size == 0 ||
          size > m.end - (*it - kHeaderBytes) || (size + header.previous) % kPage != 0) {
        continue;
      }
      ranges_.chunks.push_back({front, *it - kHeaderBytes + size});
      from = TakeChunks(*it - kHeaderBytes + size, m.end);
    }
  }

  const std::vector<uint64_t>& blocks_;
  const ByteSource& memory_;
  GlibcRanges ranges_;
  int reads_ = 0;
  bool could_read_ = false;
};

}  // namespace

std::vector<AddressRange> GuessGlibcArenas(const std::vector<MappingUsage>& mappings) {
  std::vector<AddressRange> arenas;
  for (const MappingUsage& m : mappings) {
    if (m.is_anonymous() && m.writable && !m.shared && m.no_reserve && m.start % kHeapBytes == 0) {
      arenas.push_back({m.start, m.end});
    }
  }
  return arenas;
}

GlibcRanges FindGlibcRanges(const std::vector<MappingUsage>& mappings,
                            const std::vector<uint64_t>& blocks, const ByteSource& memory) {
  Search search(blocks, memory);
  bool any = false;
  for (const MappingUsage& m : mappings) {
    const bool named = m.name.find("glibc: malloc") != std::string::npos;
    if ((!m.is_anonymous() && !named) || !m.writable || !m.readable || m.shared) continue;
    any = true;
    search.Look(m);
  }
  return search.Finish(any);
}

}  // namespace heapgauge
