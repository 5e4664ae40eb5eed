#include "core/leaks/verdict/search_memory.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/base/text.h"
#include "core/leaks/capture/glibc_state.h"
#include "core/leaks/scan/heuristics.h"
#include "core/leaks/scan/known_blocks.h"
#include "core/leaks/scan/memory_image.h"

namespace heapgauge::leaks {

// What counts in a forked child whose own blocks are all known: those of its parent are not, and
// may be what holds its own.
//
// Pure functions.

// All memory of the allocator that is not a known block's counts as in use: rather a leak that is
// missed than one that is none. REQUIRES: `blocks` by address.
void HoldByParentsBlocks(const std::vector<KnownBlock>& blocks, Roots* roots);

// For the notes of such a check.
inline constexpr const char* kParentsBlocksNote =
    "a forked child: known are the blocks that it allocated itself; what those of its parent point "
    "to counts as reachable, and so does what freed memory points to";

void HoldByParentsBlocks(const std::vector<KnownBlock>& blocks, Roots* roots) {
  size_t next = 0;
  for (const AddressRange& heap : roots->heap) {
    uint64_t start = heap.start;
    while (next < blocks.size() && blocks[next].address < heap.start) ++next;
    for (; next < blocks.size() && blocks[next].address < heap.end; ++next) {
      // Whole words: what a block and memory beside it share is the block's.
      const uint64_t end = blocks[next].address / 8 * 8;
      if (end > start) roots->ranges.push_back({{start, end}, RootKind::kMapping, 0, 0});
      start = std::max(start, (blocks[next].address + blocks[next].size + 7) / 8 * 8);
    }
    if (heap.end > start) roots->ranges.push_back({{start, heap.end}, RootKind::kMapping, 0, 0});
  }
  roots->heap.clear();
  std::sort(roots->ranges.begin(), roots->ranges.end(),
            [](const RootRange& a, const RootRange& b) { return a.range.start < b.range.start; });
}

namespace {

// Memory that only the program has is a root. What of it is the heap's or one already stays so.
void AddUncopied(const UncopiedMemory& uncopied, Roots* roots) {
  std::vector<AddressRange> taken = roots->heap;
  for (const RootRange& root : roots->ranges) taken.push_back(root.range);
  for (const AddressRange& range : Without(uncopied.ranges(), Merged(std::move(taken)))) {
    roots->ranges.push_back({range, RootKind::kMapping, 0, 0});
  }
  std::sort(roots->ranges.begin(), roots->ranges.end(),
            [](const RootRange& a, const RootRange& b) { return a.range.start < b.range.start; });
}

// Who knows where it is pointed to from.
void LeaveLossesOpen(std::vector<Verdict>* verdicts) {
  for (Verdict& verdict : *verdicts) {
    if (verdict.kind != Kind::kDefinite && verdict.kind != Kind::kIndirect) continue;
    verdict.kind = Kind::kPossible;
    verdict.leader = kNoBlock;
  }
}

void AddNotesOfUnread(const UncopiedMemory& uncopied, uint64_t unreadable_bytes,
                      std::vector<std::string>* notes) {
  const auto add = [&](uint64_t bytes, const char* what) {
    if (bytes != 0) notes->push_back(FormatBytes(static_cast<double>(bytes)) + what);
  };
  add(uncopied.missing_bytes(),
      " that the program keeps from its children was read while it ran: blocks that were moved "
      "just then may seem lost");
  add(uncopied.unread_missing_bytes(),
      " that the program keeps from its children could not be read: what seems lost may be pointed "
      "to from there, and is only possibly lost");
  add(uncopied.unread_wiped_bytes(),
      " that is empty in children of the program could not be read: pointers in it were not seen");
  add(unreadable_bytes, " of memory could not be read: pointers in it were not seen");
}

}  // namespace

Status SearchMemory(const MemorySearch& search, Check* check) {
  RootsInput input = search.roots;
  input.blocks = &check->known.blocks;
  input.in_kernel = &search.epoll.roots();
  HG_ASSIGN(ProcessRoots found, FindRoots(input, search.image));
  if (search.tell_readable) search.tell_readable(std::move(found.readable));
  check->roots = std::move(found.roots);
  if (search.adjust) search.adjust(&check->roots);
  search.uncopied.ReadWiped(found.wiped);
  AddUncopied(search.uncopied, &check->roots);
  if (check->known.exact && check->known.profile.recording.forked) {
    HoldByParentsBlocks(check->known.blocks, &check->roots);
    check->notes.emplace_back(kParentsBlocksNote);
  }
  const CompletedImage whole(search.image, search.uncopied);
  ScanResult scan = Scan(whole, check->known.blocks, check->known.exact, check->roots, search.scan);
  check->verdicts = std::move(scan.verdicts);
  if (search.uncopied.unread_missing_bytes() != 0) LeaveLossesOpen(&check->verdicts);
  if (const auto headers = FindBlockHeaders(whole, check->known.blocks, check->verdicts)) {
    check->notes.push_back(NoteOf(*headers));
  }
  if (search.with_memory) search.with_memory(whole, *check);
  check->scanned_bytes = scan.scanned_bytes;
  check->scan_ns = scan.cpu_ns;
  check->notes.insert(check->notes.end(), found.notes.begin(), found.notes.end());
  AddNotesOfUnread(search.uncopied, scan.unreadable_bytes, &check->notes);
  if (std::string note = search.epoll.Note(); !note.empty()) {
    check->notes.push_back(std::move(note));
  }
  return {};
}

}  // namespace heapgauge::leaks
