#include "core/leaks/capture/glibc_state.h"

#include <algorithm>
#include <cstddef>
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

}  // namespace heapgauge::leaks
