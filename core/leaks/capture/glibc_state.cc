#include "core/leaks/capture/glibc_state.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace heapgauge::leaks {
namespace {

// struct malloc_state since glibc 2.27: lists of free chunks from `kLists` on, each a pair of
// words; one that is empty points, twice, to the words 16 bytes before itself.
constexpr uint64_t kLists = 112;
constexpr uint64_t kListCount = 127;
constexpr uint64_t kArenaBytes = 2200;
constexpr uint64_t kLastChunk = 96;
constexpr uint64_t kSystemBytes = 2184;
constexpr uint64_t kLeastEmpty = 16;
constexpr size_t kMaxArenas = 16;
constexpr uint64_t kMaxDataBytes = 64 << 20;

// struct pthread begins with its own address, the vector, and its own address again.
constexpr uint64_t kMaxVector = 4096;
constexpr uint64_t kThreadIdOffset = 720;
constexpr uint64_t kControlBlockAlign = 64;
constexpr uint64_t kSearchedAtEnd = 16 * 1024;

uint64_t WordAt(const std::vector<char>& bytes, size_t offset) {
  uint64_t word = 0;
  std::memcpy(&word, &bytes[offset], sizeof word);
  return word;
}

}  // namespace

std::vector<AddressRange> FindArenas(const MemoryImage& image, const AddressRange& data) {
  std::vector<AddressRange> arenas;
  const uint64_t size = std::min(data.size(), kMaxDataBytes);
  std::vector<char> bytes(size);
  const size_t got = image.Read(data.start, size, bytes.data());
  const auto is_empty_list = [&](uint64_t at) {
    const uint64_t self = data.start + at - 16;
    return at + 16 <= got && WordAt(bytes, at) == self && WordAt(bytes, at + 8) == self;
  };
  for (uint64_t at = 0; at + 16 <= got && arenas.size() < kMaxArenas; at += 8) {
    if (!is_empty_list(at)) continue;
    // It is one of the lists of an arena; which one, is told by where the pairs begin. Those in
    // front of it, if any, are not empty: the count tells.
    uint64_t empty = 0;
    uint64_t last = at;
    for (uint64_t i = 0; i < kListCount; ++i) {
      if (!is_empty_list(at + 16 * i)) continue;
      ++empty;
      last = at + 16 * i;
    }
    if (empty < kLeastEmpty) continue;
    // The last lists are of sizes that are never listed, so they are always empty.
    const uint64_t end_of_lists = last + 16;
    const uint64_t lists_bytes = 16 * kListCount;
    if (end_of_lists < lists_bytes + kLists) continue;
    const uint64_t begin = end_of_lists - lists_bytes - kLists;
    const uint64_t end = std::min<uint64_t>(begin + kArenaBytes, got);
    arenas.push_back({data.start + begin, data.start + end});
    at = end - 8 - end % 8;
  }
  return arenas;
}

ArenaSize SizeOf(const MemoryImage& image, const AddressRange& arena) {
  ArenaSize size;
  const auto read = [&](uint64_t offset, uint64_t* word) {
    return arena.size() >= offset + 8 && image.Read(arena.start + offset, 8, word) == 8;
  };
  if (!read(kLastChunk, &size.last_chunk) || !read(kSystemBytes, &size.bytes)) return {};
  return size;
}

uint64_t ThreadVectorBlock(const MemoryImage& image, uint64_t thread_pointer) {
  if (thread_pointer == 0 || thread_pointer % 8 != 0) return 0;
  uint64_t words[3] = {};
  if (image.Read(thread_pointer, sizeof words, words) != sizeof words) return 0;
  if (words[0] != thread_pointer || words[2] != thread_pointer || words[1] < 16) return 0;
  return words[1] - 16;
}

std::vector<AddressRange> ThreadLocalBlocks(const MemoryImage& image, uint64_t thread_pointer) {
  std::vector<AddressRange> blocks;
  const uint64_t vector = ThreadVectorBlock(image, thread_pointer);
  if (vector == 0) return blocks;
  // The word before a block has its size and three flags, and belongs to it.
  const auto add = [&](uint64_t block) {
    uint64_t size = 0;
    if (block % 16 != 0 || image.Read(block - 8, sizeof size, &size) != sizeof size) return false;
    size &= ~uint64_t{7};
    if (size < 32 || size % 16 != 0 || size > kMaxDataBytes) return false;
    blocks.push_back({block, block + size - 8});
    return true;
  };
  // It begins with how many entries follow; the first of them counts changes.
  struct Entry {
    uint64_t data;
    uint64_t block;  // 0: not of the heap
  };
  uint64_t count = 0;
  if (!add(vector) || image.Read(vector, sizeof count, &count) != sizeof count) return blocks;
  count = std::min(count, (blocks[0].size() - sizeof(Entry)) / sizeof(Entry));
  std::vector<Entry> entries(std::min(count, kMaxVector));
  const size_t got =
      image.Read(vector + 2 * sizeof(Entry), entries.size() * sizeof(Entry), entries.data());
  entries.resize(got / sizeof(Entry));
  for (const Entry& entry : entries) {
    if (entry.block != 0 && entry.data >= entry.block) add(entry.block);
  }
  return blocks;
}

std::optional<ControlBlock> FindControlBlock(const MemoryImage& image, const AddressRange& stack) {
  const uint64_t start = std::max(stack.start, stack.end - std::min(stack.end, kSearchedAtEnd));
  if (start >= stack.end) return std::nullopt;
  std::vector<char> bytes(stack.end - start);
  const size_t got = image.Read(start, bytes.size(), bytes.data());
  for (size_t at = got / kControlBlockAlign * kControlBlockAlign; at >= kControlBlockAlign;) {
    at -= kControlBlockAlign;
    if (at + 24 > got) continue;
    const uint64_t address = start + at;
    if (WordAt(bytes, at) != address || WordAt(bytes, at + 16) != address) continue;
    ControlBlock found{address, 0};
    if (at + kThreadIdOffset + sizeof found.thread <= got) {
      std::memcpy(&found.thread, &bytes[at + kThreadIdOffset], sizeof found.thread);
      // The kernel writes 0 when it ends, and whoever joins it -1.
      if (static_cast<int32_t>(found.thread) < 0) found.thread = 0;
    }
    return found;
  }
  return std::nullopt;
}

namespace {

constexpr uint64_t kAlign = 16;
constexpr uint64_t kLeastChunk = 32;
constexpr uint64_t kHeader = 16;
constexpr uint64_t kPageBytes = 4096;
// Flags in the size of a chunk.
constexpr uint64_t kBeforeInUse = 1;
constexpr uint64_t kMapped = 2;
constexpr uint64_t kFlags = 7;
// A further arena's heap lies at a multiple of this, and begins with its own description and in the
// first one of each arena that of the arena.
constexpr uint64_t kHeapAlign = uint64_t{64} << 20;
constexpr uint64_t kMostHead = 4096;
constexpr uint64_t kUsedAt = 16;  // how much of it is in use; more may be readable
constexpr size_t kMostChunks = 4 << 20;

// Reads words here and there, mostly forward.
class Window {
 public:
  Window(const MemoryImage& image, const AddressRange& range)
      : image_(image), range_(range), bytes_(256 << 10) {}

  bool Read(uint64_t address, uint64_t* word) {
    if (address < start_ || address + sizeof *word > start_ + size_) {
      if (address < range_.start || address + sizeof *word > range_.end) return false;
      start_ = address;
      const uint64_t wanted = std::min<uint64_t>(bytes_.size(), range_.end - address);
      size_ = image_.Read(address, static_cast<size_t>(wanted), bytes_.data());
      if (size_ < sizeof *word) return false;
    }
    std::memcpy(word, &bytes_[static_cast<size_t>(address - start_)], sizeof *word);
    return true;
  }

 private:
  const MemoryImage& image_;
  const AddressRange range_;
  std::vector<char> bytes_;
  uint64_t start_ = 0;
  size_t size_ = 0;
};

// Walks from the chunk at `first`; false if it does not end as it should.
bool Walk(Window* memory, uint64_t first, uint64_t end, std::vector<AddressRange>* free) {
  free->clear();
  uint64_t chunk = first;
  uint64_t size_word = 0;
  if (!memory->Read(chunk + 8, &size_word)) return false;
  if ((size_word & kBeforeInUse) == 0) return false;  // nothing is before it
  size_t steps = 0;
  while (true) {
    const uint64_t size = size_word & ~kFlags;
    // Where a heap of an arena is full, it ends with two chunks that are only a header.
    if (size == kHeader && end - chunk <= 2 * kHeader) return steps > 1;
    if ((size_word & kMapped) != 0 || size < kLeastChunk || size % kAlign != 0) return false;
    if (size > end - chunk) return false;
    const uint64_t next = chunk + size;
    // The last one is what was not given out yet, or not again.
    if (next == end) {
      free->push_back({chunk + kHeader, end});
      return steps > 1;
    }
    uint64_t next_word = 0;
    if (end - next < kHeader || !memory->Read(next + 8, &next_word)) return false;
    if ((next_word & kBeforeInUse) == 0) {
      uint64_t size_before = 0;
      if (!memory->Read(next, &size_before) || size_before != size) return false;
      // Two free ones beside each other would have been made one.
      if ((size_word & kBeforeInUse) == 0) return false;
      if (free->size() < kMostChunks) free->push_back({chunk + kHeader, next});
    }
    chunk = next;
    size_word = next_word;
    ++steps;
  }
}

}  // namespace

std::vector<AddressRange> FindFreeChunks(const MemoryImage& image, const AddressRange& heap) {
  std::vector<AddressRange> free;
  if (heap.start % kPageBytes != 0 || heap.end % kPageBytes != 0 || heap.size() < kPageBytes)
    return free;
  Window memory(image, heap);
  if (Walk(&memory, heap.start, heap.end, &free)) return free;
  uint64_t used = 0;
  if (heap.start % kHeapAlign == 0 && memory.Read(heap.start + kUsedAt, &used) && used != 0 &&
      used % kPageBytes == 0 && used <= heap.size()) {
    // How large the descriptions are depends on the version.
    const uint64_t most = std::min(kMostHead, used - kLeastChunk);
    for (uint64_t head = kLeastChunk; head < most; head += kAlign) {
      uint64_t size_word = 0;
      if (!memory.Read(heap.start + head + 8, &size_word)) break;
      // The thread's own cache comes first, or what was asked for: not a gigabyte.
      if ((size_word & kBeforeInUse) == 0 || size_word >= used) continue;
      if (Walk(&memory, heap.start + head, heap.start + used, &free)) return free;
    }
  }
  free.clear();
  return free;
}

namespace {

bool IsChunk(uint64_t size_word, uint64_t room) {
  const uint64_t size = size_word & ~kFlags;
  return (size_word & kMapped) == 0 && size >= kLeastChunk && size % kAlign == 0 && size <= room;
}

// Where chunks that begin at `at` end: at something that is none, or at `goal`, if one begins
// there. Of the steps that are `left` it takes some.
uint64_t EndOfChunks(Window* memory, uint64_t at, uint64_t end, uint64_t goal, size_t* left) {
  uint64_t size_word = 0;
  while (at != goal && end - at >= kHeader && memory->Read(at + 8, &size_word)) {
    if (*left == 0) break;
    --*left;
    if ((size_word & ~kFlags) == kHeader) {  // two of these are the end of a stretch
      return std::min(at + 2 * kHeader, end);
    }
    if (!IsChunk(size_word, end - at)) break;
    at += size_word & ~kFlags;
  }
  return at;
}

}  // namespace

std::vector<AddressRange> FindForeignBreak(const MemoryImage& image, const AddressRange& heap,
                                           const std::vector<uint64_t>& used) {
  constexpr size_t kMost = 4096;
  // A heap that is made to look like chunks from each of its pages on would take for ever.
  size_t steps = size_t{1} << 26;
  std::vector<AddressRange> foreign;
  Window memory(image, heap);
  for (uint64_t at = heap.start; at < heap.end;) {
    at = EndOfChunks(&memory, at, heap.end, heap.end, &steps);
    if (steps == 0) return {};
    if (heap.end - at < kHeader) break;
    const auto next = std::lower_bound(used.begin(), used.end(), at + kHeader);
    if (next == used.end() || *next >= heap.end) {
      foreign.push_back({at, heap.end});
      break;
    }
    // glibc's part begins on a page as a rule, with chunks up to that of the block.
    const uint64_t chunk = *next - kHeader;
    uint64_t begin = (at + kPageBytes - 1) / kPageBytes * kPageBytes;
    while (begin < chunk && EndOfChunks(&memory, begin, heap.end, chunk, &steps) != chunk) {
      begin += kPageBytes;
    }
    begin = std::min(begin, chunk);
    uint64_t size_word = 0;
    if (!memory.Read(begin + 8, &size_word) || !IsChunk(size_word, heap.end - begin) ||
        foreign.size() == kMost || steps == 0) {
      return {};
    }
    foreign.push_back({at, begin});
    at = begin;
  }
  return foreign;
}

std::vector<AddressRange> Without(const std::vector<AddressRange>& ranges,
                                  const std::vector<AddressRange>& holes) {
  std::vector<AddressRange> left;
  size_t hole = 0;
  for (const AddressRange& range : ranges) {
    uint64_t at = range.start;
    while (hole < holes.size() && holes[hole].end <= at) ++hole;
    for (size_t i = hole; i < holes.size() && holes[i].start < range.end; ++i) {
      if (holes[i].start > at) left.push_back({at, holes[i].start});
      at = std::max(at, holes[i].end);
    }
    if (at < range.end) left.push_back({at, range.end});
  }
  return left;
}

}  // namespace heapgauge::leaks
