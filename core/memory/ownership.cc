#include "core/memory/ownership.h"

#include <algorithm>
#include <string_view>

#include "core/base/text.h"
#include "core/elf/elf_file.h"

namespace heapgauge {
namespace {

// What the dynamic linker maps for itself among the libraries is smaller than this.
constexpr uint64_t kLoaderBytes = 128 * 1024;

bool StartsWith(std::string_view text, std::string_view start) {
  return text.compare(0, start.size(), start) == 0;
}

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool IsAgentLibrary(std::string_view name) { return Contains(BaseName(name), "libheapgauge.so"); }

// Owners of named memory; kUnknown for anonymous memory.
class Names {
 public:
  Names(const std::vector<MappingUsage>& mappings, const OwnershipInput& input) : input_(input) {
    for (const MappingUsage& m : mappings) {
      if (m.executable && m.inode != 0) objects_.insert(FileOf(m));
    }
  }

  Owner Of(const MappingUsage& m) const {
    const std::string_view name = m.name;
    if (name.empty()) return m.inode != 0 ? Owner::kFile : Owner::kUnknown;
    if (name[0] == '[') return OfBracketed(name);
    if (IsAgentLibrary(name)) return Owner::kAgent;
    if (input_.gauge_inode != 0 && m.inode == input_.gauge_inode &&
        StartsWith(BaseName(name), BaseName(input_.gauge_path))) {
      return Owner::kAgent;
    }
    if (objects_.count(FileOf(m)) != 0) return Owner::kProgram;
    if (StartsWith(name, "/dev/shm/") || StartsWith(name, "/memfd:") || StartsWith(name, "/SYSV") ||
        StartsWith(name, "/dev/zero") || StartsWith(name, "/anon_hugepage") ||
        input_.memory_devices.count({m.device_major, m.device_minor}) != 0) {
      return Owner::kShared;
    }
    return Owner::kFile;
  }

 private:
  using File = std::pair<std::pair<uint32_t, uint32_t>, uint64_t>;
  static File FileOf(const MappingUsage& m) { return {{m.device_major, m.device_minor}, m.inode}; }

  static Owner OfBracketed(std::string_view name) {
    if (name == "[heap]") return Owner::kHeap;
    if (StartsWith(name, "[stack")) return Owner::kStack;
    if (StartsWith(name, "[anon_shmem")) return Owner::kShared;
    if (!StartsWith(name, "[anon:")) return Owner::kKernel;
    if (Contains(name, "heapgauge")) return Owner::kAgent;
    if (Contains(name, "pthread stack")) return Owner::kStack;
    if (Contains(name, "loader malloc")) return Owner::kProgram;
    for (const std::string_view heap : {"malloc", "jemalloc", "mimalloc", "mi-heap", "tcmalloc"}) {
      if (Contains(name, heap)) return Owner::kHeap;
    }
    return Owner::kUnknown;
  }

  const OwnershipInput& input_;
  std::set<File> objects_;
};

// Cuts of one mapping of anonymous memory.
class Cutter {
 public:
  Cutter(const std::vector<MappingUsage>& mappings, const OwnershipInput& input, PageMap* pages)
      : mappings_(mappings), input_(input), pages_(pages) {}

  // What lies below `data_end` is known to be of `data_owner`.
  void Cut(uint32_t index, Owner otherwise, uint64_t data_end, Owner data_owner,
           std::vector<Piece>* out) {
    const MappingUsage& m = mappings_[index];
    std::vector<uint64_t> edges = {m.start, m.end};
    if (data_end > m.start && data_end < m.end) edges.push_back(data_end);
    AddEdges(input_.agent, m, &edges);
    AddEdges(input_.allocator, m, &edges);
    auto first = std::upper_bound(
        input_.recorded.begin(), input_.recorded.end(), m.start,
        [](uint64_t address, const RecordedRange& r) { return address < r.range.end; });
    for (auto it = first; it != input_.recorded.end() && it->range.start < m.end; ++it) {
      edges.push_back(it->range.start);
      edges.push_back(it->range.end);
    }
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    const size_t begin = out->size();
    auto record = first;
    for (size_t i = 0; i + 1 < edges.size(); ++i) {
      if (edges[i] < m.start || edges[i] >= m.end) continue;
      while (record != input_.recorded.end() && record->range.end <= edges[i]) ++record;
      const bool recorded = record != input_.recorded.end() && record->range.start <= edges[i];
      Piece piece{edges[i], edges[i + 1], otherwise, index, kNoRecord, 0};
      if (piece.start < data_end) {
        piece.owner = data_owner;
      } else if (FindRange(input_.agent, piece.start) != nullptr) {
        piece.owner = Owner::kAgent;
      } else if (FindRange(input_.allocator, piece.start) != nullptr ||
                 (recorded && record->of_allocator) || HoldsBlocks(piece)) {
        piece.owner = Owner::kHeap;
      } else if (input_.is_stack[index]) {
        piece.owner = Owner::kStack;
      } else if (recorded) {
        piece.owner = Owner::kMapped;
        piece.record = record->record;
      }
      out->push_back(piece);
    }
    Share(m, out, begin);
  }

 private:
  static void AddEdges(const std::vector<AddressRange>& merged, const MappingUsage& m,
                       std::vector<uint64_t>* edges) {
    auto it =
        std::upper_bound(merged.begin(), merged.end(), m.start,
                         [](uint64_t address, const AddressRange& r) { return address < r.end; });
    for (; it != merged.end() && it->start < m.end; ++it) {
      edges->push_back(it->start);
      edges->push_back(it->end);
    }
  }

  bool HoldsBlocks(const Piece& piece) const {
    const auto it = std::lower_bound(input_.blocks.begin(), input_.blocks.end(), piece.start);
    return it != input_.blocks.end() && *it < piece.end;
  }

  // Gives each piece its share of what is in memory; the shares add up.
  void Share(const MappingUsage& m, std::vector<Piece>* out, size_t begin) {
    if (out->size() - begin == 1) {
      (*out)[begin].resident = m.resident;
      return;
    }
    uint64_t left = m.resident;
    uint64_t size_left = m.size();
    for (size_t i = begin; i < out->size(); ++i) {
      Piece& piece = (*out)[i];
      const uint64_t size = piece.end - piece.start;
      const auto known = pages_->ResidentIn(piece.start, piece.end);
      const double share = static_cast<double>(left) * static_cast<double>(size) /
                           static_cast<double>(std::max<uint64_t>(size_left, 1));
      piece.resident = std::min({known ? *known : static_cast<uint64_t>(share), left, size});
      left -= piece.resident;
      size_left -= size;
    }
    // Pages that came between the two looks: to a piece that has room for them.
    for (size_t i = begin; i < out->size() && left > 0; ++i) {
      Piece& piece = (*out)[i];
      const uint64_t more = std::min(left, piece.end - piece.start - piece.resident);
      piece.resident += more;
      left -= more;
    }
  }

  const std::vector<MappingUsage>& mappings_;
  const OwnershipInput& input_;
  PageMap* pages_;
};

}  // namespace

const char* OwnerName(Owner owner) {
  constexpr const char* kNames[kOwners] = {"other", "heap",   "stack", "mmap",  "program",
                                           "file",  "shared", "agent", "kernel"};
  return kNames[static_cast<size_t>(owner)];
}

std::vector<Piece> FindOwners(const std::vector<MappingUsage>& mappings,
                              const OwnershipInput& input, PageMap* pages) {
  const Names names(mappings, input);
  Cutter cutter(mappings, input, pages);
  std::vector<Owner> named(mappings.size());
  for (size_t i = 0; i < mappings.size(); ++i) {
    named[i] = names.Of(mappings[i]);
    // Zero-initialised data has no file behind it, but stands right behind the rest of the data.
    if (MayHoldZeroData(mappings, i) &&
        (named[i - 1] == Owner::kProgram || named[i - 1] == Owner::kAgent)) {
      named[i] = named[i - 1];
    }
  }
  std::vector<Piece> pieces;
  pieces.reserve(mappings.size());
  for (uint32_t i = 0; i < mappings.size(); ++i) {
    const MappingUsage& m = mappings[i];
    Owner owner = named[i];
    if (owner != Owner::kUnknown && !m.is_anonymous()) {
      pieces.push_back({m.start, m.end, owner, i, kNoRecord, m.resident});
      continue;
    }
    if (owner == Owner::kUnknown && m.size() <= kLoaderBytes) {
      const bool below = i > 0 && mappings[i - 1].end == m.start && mappings[i - 1].inode != 0 &&
                         named[i - 1] == Owner::kProgram;
      const bool above = i + 1 < mappings.size() && mappings[i + 1].start == m.end &&
                         mappings[i + 1].inode != 0 && named[i + 1] == Owner::kProgram;
      if (below || above) owner = Owner::kProgram;
    }
    uint64_t data_end = 0;
    if (named[i] != Owner::kUnknown) {
      const auto data = input.zero_data.find(m.start);
      // Where the object's headers could not be read, all of it.
      data_end = data == input.zero_data.end() ? m.end : data->second;
      owner = Owner::kUnknown;
    }
    cutter.Cut(i, owner, data_end, named[i], &pieces);
  }
  return pieces;
}

namespace {

bool SameFile(const MappingUsage& a, const MappingUsage& b) {
  return a.inode == b.inode && a.device_major == b.device_major && a.device_minor == b.device_minor;
}

}  // namespace

bool MayHoldZeroData(const std::vector<MappingUsage>& mappings, size_t index) {
  if (index == 0) return false;
  const MappingUsage& m = mappings[index];
  const MappingUsage& before = mappings[index - 1];
  return m.is_anonymous() && m.writable && !m.shared && before.end == m.start &&
         before.inode != 0 && before.writable && !before.shared;
}

std::map<uint64_t, uint64_t> FindZeroData(const std::vector<MappingUsage>& mappings,
                                          const std::string& root) {
  std::map<uint64_t, uint64_t> ends;
  for (size_t i = 1; i < mappings.size(); ++i) {
    if (!MayHoldZeroData(mappings, i)) continue;
    const MappingUsage& data = mappings[i - 1];
    size_t first = i - 1;
    constexpr size_t kFarthest = 64;
    for (size_t j = i - 1; j > 0 && i - j < kFarthest; --j) {
      const MappingUsage& before = mappings[j - 1];
      if (before.inode != 0 && !SameFile(before, data)) break;
      if (before.inode != 0) first = j - 1;
    }
    const auto object = ReadElfImage(root + data.name);
    if (object && object->extent != 0) {
      const uint64_t end = mappings[first].start + object->extent;
      ends[mappings[i].start] = std::clamp(end, mappings[i].start, mappings[i].end);
    }
  }
  return ends;
}

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
