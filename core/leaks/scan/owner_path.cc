#include "core/leaks/scan/owner_path.h"

#include <algorithm>

#include "core/leaks/scan/range_reader.h"
#include "core/leaks/scan/word_filter.h"

namespace heapgauge::leaks {
namespace {

// Where pointers can be, merged.
std::vector<AddressRange> MemoryOf(const Check& check) {
  std::vector<AddressRange> ranges;
  for (const RootRange& root : check.roots.ranges) ranges.push_back(root.range);
  // Together with what lies between them: one system call for each would take far longer.
  constexpr uint64_t kBridge = 2048;
  for (const KnownBlock& block : check.known.blocks) {
    const AddressRange range = {block.address,
                                block.address + std::min(block.size, ~block.address)};
    if (!ranges.empty() && range.start >= ranges.back().start &&
        range.start - std::min(ranges.back().end, range.start) <= kBridge) {
      ranges.back().end = std::max(ranges.back().end, range.end);
    } else {
      ranges.push_back(range);
    }
  }
  if (!check.known.exact) {
    ranges.insert(ranges.end(), check.roots.heap.begin(), check.roots.heap.end());
  }
  return Merged(std::move(ranges));
}

// Memory between blocks counts only where it may be that of other blocks.
bool Counts(const Check& check, const PointerPlace& place) {
  switch (place.in) {
    case PointerPlace::In::kRoot:
      return true;
    case PointerPlace::In::kBlock:  // the whole word must be in it
      return place.offset + 8 <= check.known.blocks[place.block].size;
    case PointerPlace::In::kUnknownHeap:
      return !check.known.exact;
    case PointerPlace::In::kNowhere:
      break;
  }
  return false;
}

}  // namespace

OwnerPath PathToBlock(const Check& check, uint32_t block, size_t limit) {
  OwnerPath path;
  path.block = block;
  limit = std::max<size_t>(limit, 2);
  // From the block back to the root; no chain is longer than there are blocks.
  std::vector<PointerPlace> last;   // next to the block
  std::vector<PointerPlace> first;  // a ring of those next to the root, as far as it is known
  const size_t keep_first = limit / 2;
  const size_t keep_last = limit - keep_first;
  uint64_t count = 0;
  while (block < check.verdicts.size() && check.verdicts[block].has_pointer &&
         count <= check.verdicts.size()) {
    const Verdict& verdict = check.verdicts[block];
    const PointerPlace place = PlaceOfPointer(check, verdict);
    if (last.size() < keep_last) {
      last.push_back(place);
    } else if (first.size() < keep_first) {
      first.push_back(place);
    } else {
      first[(count - keep_last) % keep_first] = place;
    }
    ++count;
    if (verdict.from == kNoBlock) break;
    block = verdict.from;
  }
  const size_t kept = last.size() + first.size();
  path.left_out = count - kept;
  path.kept_first = first.size();
  const size_t newest = first.empty() ? 0 : (count - keep_last - 1) % keep_first;
  for (size_t i = 0; i < first.size(); ++i) {
    path.places.push_back(first[(newest + first.size() - i) % first.size()]);
  }
  path.places.insert(path.places.end(), last.rbegin(), last.rend());
  return path;
}

PointersTo FindPointersTo(const MemoryImage& image, const Check& check, const AddressRange& target,
                          size_t limit) {
  PointersTo found;
  if (target.start >= target.end || target.end > UINT64_MAX / 2) return found;
  const auto add = [&](const PointerPlace& place, uint64_t value) {
    ++found.count;
    if (found.pointers.size() < limit) found.pointers.push_back({place, value});
  };
  for (size_t i = 0; i < check.roots.registers.size(); ++i) {
    const uint64_t value = check.roots.registers[i].value;
    if (value >= target.start && value < target.end) add(PlaceOfRegister(check, i), value);
  }
  const WordFilter filter = BestWordFilter();
  RangeReader reader(image);
  std::vector<uint32_t> numbers(RangeReader::kBufferBytes / 8 + 4);
  for (const AddressRange& range : MemoryOf(check)) {
    reader.Read(range.start, range.end, [&](uint64_t address, const uint64_t* words, size_t count) {
      const size_t hits = filter(words, count, target.start, target.size(), numbers.data());
      for (size_t i = 0; i < hits; ++i) {
        const PointerPlace place = PlaceOfAddress(check, address + numbers[i] * 8);
        if (Counts(check, place)) add(place, words[numbers[i]]);
      }
    });
  }
  return found;
}

}  // namespace heapgauge::leaks
