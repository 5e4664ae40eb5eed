#include "core/leaks/capture/process_roots.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "core/base/text.h"
#include "core/elf/elf_file.h"
#include "core/leaks/capture/glibc_state.h"
#include "core/leaks/capture/machine.h"
#include "core/leaks/capture/process_memory_image.h"
#include "core/leaks/capture/saved_memory.h"
#include "core/memory/ownership.h"
#include "core/os/memory_maps.h"
#include "core/os/process.h"
#include "core/os/process_memory.h"

namespace heapgauge::leaks {
namespace {

constexpr uint64_t kPage = 4096;
// What follows the address that the thread pointer has: the control block of the C library.
constexpr uint64_t kControlBlockBytes = 4096;
// Of a stack within the heap, whose end is not known.
constexpr uint64_t kUnknownStackBytes = 64 * 1024;
// Of all memory that is shared with other processes.
constexpr uint64_t kMaxSharedBytes = uint64_t{4} << 30;

bool IsCLibrary(std::string_view path) {
  const std::string_view name = BaseName(path);
  return name.starts_with("libc.so") || name.starts_with("libc-");
}

class Finder {
 public:
  Finder(const RootsInput& input, const MemoryImage& image)
      : input_(input),
        image_(image),
        directory_(ProcessDirectory(input.process)),
        touched_(input.saved != nullptr ? input.saved->PageMap()
                                        : OpenSource(directory_ + "/pagemap")),
        // Pages of shared memory are not in the copy's tables.
        touched_shared_(OpenSource(ProcessDirectory(input.program) + "/pagemap")) {}

  Result<ProcessRoots> Find() {
    if (input_.saved != nullptr) {
      smaps_ = input_.saved->smaps();
    } else {
      HG_ASSIGN(smaps_, ReadSmaps(directory_ + "/smaps"));
    }
    if (smaps_.not_listed != 0) {
      found_.notes.push_back(
          fmt::format("{} mappings were not looked at: there are too many", smaps_.not_listed));
    }
    FindObjects();
    FindPieces();
    AddThreads();
    if (!input_.without_free) AddForeignBreak();
    for (const Piece& piece : pieces_) AddPiece(piece);
    if (const uint64_t bytes = touched_shared_.unknown_bytes()) {
      found_.notes.push_back(fmt::format(
          "{} of memory that is shared with other processes was not searched: which of it the "
          "program has touched is not known",
          FormatBytes(static_cast<double>(bytes))));
    }
    found_.roots.ranges = list_.Finish();
    found_.roots.heap = Without(Merged(std::move(found_.roots.heap)), Merged(std::move(free_)));
    found_.roots.files = Merged(std::move(found_.roots.files));
    found_.roots.code = Merged(std::move(found_.roots.code));
    found_.readable = Merged(std::move(found_.readable));
    return std::move(found_);
  }

 private:
  using Others = TouchedPages::Others;

  // Number of each mapped file, and the size of all thread-local data.
  void FindObjects() {
    objects_of_.resize(smaps_.mappings.size());
    std::map<std::string, uint32_t> numbers;
    for (size_t i = 0; i < smaps_.mappings.size(); ++i) {
      const MappingUsage& m = smaps_.mappings[i];
      if (m.readable) found_.readable.push_back({m.start, m.end});
      if (m.inode == 0 || m.name.empty() || m.name[0] != '/') {
        if (MayHoldZeroData(smaps_.mappings, i)) objects_of_[i] = objects_of_[i - 1];
        continue;
      }
      if (m.readable && !m.shared) found_.roots.files.push_back({m.start, m.end});
      if (m.executable) found_.roots.code.push_back({m.start, m.end});
      const auto [it, is_new] =
          numbers.emplace(m.name, static_cast<uint32_t>(found_.roots.objects.size()));
      if (is_new) {
        Roots::Object object;
        object.path = m.name;
        if (const auto headers = ReadElfImage(directory_ + "/root" + m.name)) {
          object.load_bias = m.start - headers->lowest_page;
          thread_local_bytes_ += headers->thread_local_bytes;
        }
        found_.roots.objects.push_back(std::move(object));
      }
      objects_of_[i] = it->second;
    }
  }

  void FindPieces() {
    const std::vector<MappingUsage>& mappings = smaps_.mappings;
    StackPointers pointers;
    for (const CapturedThread& thread : *input_.threads) {
      if (thread.stack_pointer != 0) pointers.pointers.push_back(thread.stack_pointer);
    }
    OwnershipInput owners;
    owners.is_stack = FindStacks(mappings, pointers).is_stack;
    owners.blocks.reserve(input_.blocks->size());
    std::vector<uint64_t> perhaps_mapped;  // blocks that may be a mapping of their own
    for (const KnownBlock& block : *input_.blocks) {
      owners.blocks.push_back(block.address);
      if (block.address % kPage == 16 || block.size >= 128 * 1024) {
        perhaps_mapped.push_back(block.address);
      }
    }
    owners.zero_data = FindZeroData(mappings, directory_ + "/root");
    owners.memory_devices = MemoryFileSystems(directory_);
    bool glibc = true;
    if (const GaugeMemory* gauge = input_.gauge) {
      owners.agent = gauge->agent_ranges;
      owners.gauge_path = gauge->path;
      struct stat st {};
      if (stat(gauge->path.c_str(), &st) == 0) owners.gauge_inode = st.st_ino;
      glibc = gauge->allocator == wire::Allocator::kGlibc;
      found_.roots.has_extent_records = gauge->allocator == wire::Allocator::kJemalloc;
      for (const wire::MappingRecord& m : gauge->mappings) {
        if ((m.flags & wire::kMappingOfAllocator) != 0) {
          owners.allocator.push_back({m.address, m.address + m.length});
        }
      }
    }
    find_free_ = glibc && input_.without_free;
    if (glibc) {
      const ImageSource memory(image_);
      const GlibcRanges ranges = FindGlibcRanges(mappings, perhaps_mapped, memory);
      owners.allocator.insert(owners.allocator.end(), ranges.arenas.begin(), ranges.arenas.end());
      owners.allocator.insert(owners.allocator.end(), ranges.chunks.begin(), ranges.chunks.end());
    }
    owners.allocator = Merged(std::move(owners.allocator));
    PageMap no_pages;
    pieces_ = FindOwners(mappings, owners, &no_pages);
  }

  const Piece* PieceAt(uint64_t address) const {
    auto it = std::upper_bound(pieces_.begin(), pieces_.end(), address,
                               [](uint64_t at, const Piece& p) { return at < p.start; });
    if (it == pieces_.begin()) return nullptr;
    --it;
    return address < it->end ? &*it : nullptr;
  }

  void AddThreads() {
    for (const CapturedThread& thread : *input_.threads) {
      for (const RootRegister& r : thread.registers) found_.roots.registers.push_back(r);
      if (const uint64_t block = ThreadVectorBlock(image_, thread.thread_pointer)) {
        found_.roots.registers.push_back({block, thread.id, "thread vector"});
      }
      AddThreadLocal(thread);
    }
    if (input_.in_kernel != nullptr) {
      found_.roots.registers.insert(found_.roots.registers.end(), input_.in_kernel->begin(),
                                    input_.in_kernel->end());
    }
    // Behind all thread-local memory, which may be at the end of a stack.
    for (const CapturedThread& thread : *input_.threads) AddStack(thread);
    // What was left of earlier calls.
    for (const CapturedThread& thread : *input_.threads) {
      const Piece* piece = thread.stack_pointer == 0 ? nullptr : PieceAt(thread.stack_pointer);
      if (piece != nullptr && piece->owner == Owner::kStack) {
        list_.Exclude({piece->start, thread.stack_pointer});
      }
    }
  }

  void AddThreadLocal(const CapturedThread& thread) {
    const uint64_t tp = thread.thread_pointer;
    const Piece* piece = tp == 0 ? nullptr : PieceAt(tp);
    if (piece == nullptr) return;
    // Not into the part of the stack that is in use.
    uint64_t start = tp - std::min(tp, thread_local_bytes_);
    if (thread.stack_pointer >= piece->start && thread.stack_pointer < tp) {
      start = std::max(start, thread.stack_pointer);
    }
    start = std::max(start, piece->start);
    const uint64_t end = std::min(tp + kControlBlockBytes, piece->end);
    list_.Add({{start, end}, RootKind::kThreadLocal, thread.id, 0});
    // Where such a block is known, pointers lead to it as to others.
    for (const AddressRange& block : ThreadLocalBlocks(image_, tp)) {
      const Piece* holder = PieceAt(block.start);
      if (holder == nullptr || holder->owner != Owner::kHeap || IsKnown(block.start)) continue;
      list_.Add(
          {{block.start, std::min(block.end, holder->end)}, RootKind::kThreadLocal, thread.id, 0});
    }
  }

  bool IsKnown(uint64_t address) const {
    const std::vector<KnownBlock>& blocks = *input_.blocks;
    const auto it =
        std::lower_bound(blocks.begin(), blocks.end(), address,
                         [](const KnownBlock& b, uint64_t at) { return b.address < at; });
    return it != blocks.end() && it->address == address;
  }

  void AddStack(const CapturedThread& thread) {
    const uint64_t sp = thread.stack_pointer;
    const Piece* piece = sp == 0 ? nullptr : PieceAt(sp);
    if (piece == nullptr) return;
    uint64_t end = piece->end;
    const uint64_t tp = thread.thread_pointer;
    if (tp > sp && tp < end) {
      end = std::min(end, tp + kControlBlockBytes);
    } else if (piece->owner == Owner::kHeap) {
      end = std::min(end, EndOfStackIn(sp));
    }
    const uint64_t start = std::max(sp - std::min(sp, kRedZoneBytes), piece->start);
    list_.Add({{start, end}, RootKind::kStack, thread.id, 0});
  }

  // A stack that is a block of the heap ends with that.
  uint64_t EndOfStackIn(uint64_t sp) const {
    const std::vector<KnownBlock>& blocks = *input_.blocks;
    auto it = std::upper_bound(blocks.begin(), blocks.end(), sp,
                               [](uint64_t at, const KnownBlock& b) { return at < b.address; });
    if (it != blocks.begin() && sp - std::prev(it)->address < std::prev(it)->size) {
      return std::prev(it)->address + std::prev(it)->size;
    }
    return sp + kUnknownStackBytes;
  }

  void AddPiece(const Piece& piece) {
    const MappingUsage& m = smaps_.mappings[piece.mapping];
    const AddressRange range{piece.start, piece.end};
    const bool is_wiped = m.wiped_on_fork && m.readable && piece.owner != Owner::kAgent &&
                          input_.process != input_.program;
    if (is_wiped) found_.wiped.push_back(range);
    if (piece.owner == Owner::kHeap) {
      AddHeap(range);
      if (find_free_ && (m.start == range.start || m.name == "[heap]")) {
        const AddressRange whole = m.name == "[heap]" ? AddressRange{m.start, m.end} : range;
        const std::vector<AddressRange> chunks = FindFreeChunks(image_, whole);
        free_.insert(free_.end(), chunks.begin(), chunks.end());
      }
      return;
    }
    if (!m.readable || piece.owner == Owner::kAgent || piece.owner == Owner::kKernel) return;
    if (is_wiped) return;
    if (m.shared) {
      AddShared(m, range, objects_of_[piece.mapping]);
      return;
    }
    // What nobody wrote to is as it is in the file, or zero: it holds no pointer.
    if (m.anonymous == 0 && m.swapped == 0 && !m.name.starts_with("/anon_hugepage")) return;
    if (piece.owner == Owner::kStack) {
      AddOtherStack(range);
      return;
    }
    const bool is_data = piece.owner == Owner::kProgram;
    const uint32_t object = objects_of_[piece.mapping];
    if (is_data && HoldsArenas(piece)) {
      for (const AddressRange& arena : FindArenas(image_, range)) list_.Exclude(arena);
    }
    AddTouched(range, is_data ? RootKind::kData : RootKind::kMapping, object,
               m.inode != 0 ? Others::kUnknownToo : Others::kHolesToo);
  }

  // Where all blocks are known, memory beside them is no root; but what the program got by sbrk
  // itself holds what it likes. That there is any is told by how much malloc has got.
  void AddForeignBreak() {
    const auto heap = std::find_if(smaps_.mappings.begin(), smaps_.mappings.end(),
                                   [](const MappingUsage& m) { return m.name == "[heap]"; });
    if (heap == smaps_.mappings.end() || !heap->readable) return;
    const AddressRange range{heap->start, heap->end};
    for (const Piece& piece : pieces_) {
      if (piece.owner != Owner::kProgram || !HoldsArenas(piece)) continue;
      for (const AddressRange& arena : FindArenas(image_, {piece.start, piece.end})) {
        const ArenaSize size = SizeOf(image_, arena);
        if (!range.Holds(size.last_chunk) || size.bytes >= range.size()) continue;
        std::vector<uint64_t> used;
        for (const KnownBlock& block : *input_.blocks) {
          if (range.Holds(block.address)) used.push_back(block.address);
        }
        for (const AddressRange& part : FindForeignBreak(image_, range, used)) {
          AddTouched(part, RootKind::kMapping, 0);
        }
        return;
      }
    }
  }

  // Without what threads have in it: a static program keeps thread-local data there.
  void AddHeap(const AddressRange& range) {
    constexpr uint64_t kArenaAlign = uint64_t{64} << 20;
    if (range.start % kArenaAlign == 0) {
      const AddressRange head{range.start, std::min(range.end, range.start + kPage)};
      for (const AddressRange& arena : FindArenas(image_, head)) list_.Exclude(arena);
    }
    for (const AddressRange& part : list_.Free(range)) found_.roots.heap.push_back(part);
  }

  // Data of the C library, or of a program that has it within itself.
  bool HoldsArenas(const Piece& piece) const {
    const uint32_t object = objects_of_[piece.mapping];
    return object == 1 || IsCLibrary(found_.roots.objects[object].path);
  }

  void AddTouched(const AddressRange& range, RootKind kind, uint32_t object,
                  Others others = Others::kHolesToo) {
    for (const AddressRange& part : touched_.In(range.start, range.end, others)) {
      list_.Add({part, kind, 0, object});
    }
  }

  void AddShared(const MappingUsage& m, const AddressRange& range, uint32_t object) {
    // A plain file that may not be written to holds no pointers of this process.
    if (!m.writable) return;
    for (const AddressRange& part : touched_shared_.In(range.start, range.end, Others::kNone)) {
      if (shared_bytes_ + part.size() > kMaxSharedBytes) {
        if (shared_bytes_ <= kMaxSharedBytes) {
          found_.notes.push_back(fmt::format("shared memory beyond {} was not searched",
                                             FormatBytes(double{kMaxSharedBytes})));
        }
        shared_bytes_ = kMaxSharedBytes + 1;
        return;
      }
      shared_bytes_ += part.size();
      list_.Add({part, RootKind::kMapping, 0, object});
    }
  }

  // A stack. What is below the stack pointers of threads that are on it is taken already.
  void AddOtherStack(const AddressRange& range) {
    for (const CapturedThread& known : *input_.threads) {
      if (known.stack_pointer < range.start || known.stack_pointer >= range.end) continue;
      return AddTouched(range, RootKind::kMapping, 0);
    }
    const auto block = FindControlBlock(image_, range);
    // The program switches stacks by itself.
    if (!block) return AddTouched(range, RootKind::kMapping, 0);
    const auto known =
        std::find_if(input_.threads->begin(), input_.threads->end(),
                     [&](const CapturedThread& t) { return t.thread_pointer == block->address; });
    const bool is_known = known != input_.threads->end();
    const uint32_t thread = is_known ? known->id : block->thread;
    if (!is_known) {
      if (const uint64_t vector = ThreadVectorBlock(image_, block->address)) {
        found_.roots.registers.push_back({vector, thread, "thread vector"});
      }
    }
    // Of a thread that has ended: nothing on it counts any more but the vector, which is kept with
    // the stack for the next thread.
    if (!is_known && (input_.threads_known || block->thread == 0)) return;
    for (const AddressRange& part : touched_.In(range.start, range.end)) {
      list_.Add({part, RootKind::kWholeStack, thread, 0});
    }
  }

  const RootsInput& input_;
  const MemoryImage& image_;
  const std::string directory_;
  TouchedPages touched_;
  TouchedPages touched_shared_;
  Smaps smaps_;
  std::vector<uint32_t> objects_of_;  // of each mapping
  uint64_t thread_local_bytes_ = 0;
  std::vector<Piece> pieces_;
  bool find_free_ = false;
  std::vector<AddressRange> free_;  // parts of the heap
  RootList list_;
  uint64_t shared_bytes_ = 0;
  ProcessRoots found_;
};

}  // namespace

Result<ProcessRoots> FindRoots(const RootsInput& input, const MemoryImage& image) {
  return Finder(input, image).Find();
}

}  // namespace heapgauge::leaks
