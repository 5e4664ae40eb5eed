#include "core/leaks/scan/owner_path.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.h"
#include "core/leaks/scan/data_symbols.h"
#include "core/leaks/scan/image_reader.h"
#include "core/leaks/scan/word_filter.h"

namespace heapgauge::leaks {
namespace {

const RootRange* FindRoot(const Roots& roots, uint64_t address) {
  const auto after =
      std::upper_bound(roots.ranges.begin(), roots.ranges.end(), address,
                       [](uint64_t a, const RootRange& root) { return a < root.range.start; });
  if (after == roots.ranges.begin()) return nullptr;
  const RootRange& root = *(after - 1);
  return address < root.range.end ? &root : nullptr;
}

std::string OfThread(uint32_t thread) {
  return thread == 0 ? std::string() : fmt::format(" of thread {}", thread);
}

std::string DescribeRoot(const Check& check, const PointerPlace& place, DataSymbols* symbols) {
  const std::string path = place.object < check.roots.objects.size()
                               ? Printable(check.roots.objects[place.object].path)
                               : std::string();
  switch (place.root) {
    case RootKind::kRegister:
      return fmt::format("register {}{}", place.register_name, OfThread(place.thread));
    case RootKind::kStack:
    case RootKind::kWholeStack:
      return fmt::format("stack{} at {:#x}", OfThread(place.thread), place.address);
    case RootKind::kThreadLocal:
      return fmt::format("thread-local storage{} at {:#x}", OfThread(place.thread), place.address);
    case RootKind::kData: {
      const std::string name = symbols == nullptr ? "" : symbols->Name(place.object, place.address);
      if (!name.empty()) return fmt::format("{}, data of {}", Printable(name), path);
      return fmt::format("data of {} at {:#x}", path.empty() ? "the program" : path, place.address);
    }
    case RootKind::kMapping:
      return path.empty() ? fmt::format("mapped memory at {:#x}", place.address)
                          : fmt::format("mapping of {} at {:#x}", path, place.address);
    case RootKind::kEpoll:
      return fmt::format("epoll descriptor {}", place.descriptor);
  }
  return "";
}

}  // namespace

uint32_t FindBlock(const KnownBlocks& known, uint64_t address) {
  const auto after =
      std::upper_bound(known.blocks.begin(), known.blocks.end(), address,
                       [](uint64_t a, const KnownBlock& block) { return a < block.address; });
  if (after == known.blocks.begin()) return kNoBlock;
  const KnownBlock& block = *(after - 1);
  const bool inside = address - block.address < std::max<uint64_t>(block.size, 1);
  return inside ? static_cast<uint32_t>(after - known.blocks.begin() - 1) : kNoBlock;
}

PointerPlace PlaceOfAddress(const Check& check, uint64_t address) {
  PointerPlace place;
  place.address = address;
  place.block = FindBlock(check.known, address);
  if (place.block != kNoBlock) {
    place.in = PointerPlace::In::kBlock;
    place.offset = address - check.known.blocks[place.block].address;
  } else if (const RootRange* root = FindRoot(check.roots, address)) {
    place.in = PointerPlace::In::kRoot;
    place.root = root->kind;
    place.thread = root->thread;
    place.object = root->object;
    place.offset = address - root->range.start;
  } else if (FindRange(check.roots.heap, address) != nullptr) {
    place.in = PointerPlace::In::kUnknownHeap;
  }
  return place;
}

PointerPlace PlaceOfRegister(const Check& check, uint64_t number) {
  PointerPlace place;
  if (number >= check.roots.registers.size()) return place;
  const RootRegister& root = check.roots.registers[number];
  place.in = PointerPlace::In::kRoot;
  place.root = root.kind;
  place.thread = root.thread;
  place.register_name = root.name;
  place.descriptor = root.descriptor;
  return place;
}

PointerPlace PlaceOfPointer(const Check& check, const Verdict& verdict) {
  return verdict.by_register ? PlaceOfRegister(check, verdict.pointer)
                             : PlaceOfAddress(check, verdict.pointer);
}

std::string DescribePlace(const Check& check, const PointerPlace& place, DataSymbols* symbols) {
  switch (place.in) {
    case PointerPlace::In::kRoot:
      return DescribeRoot(check, place, symbols);
    case PointerPlace::In::kBlock: {
      const KnownBlock& block = check.known.blocks[place.block];
      return fmt::format("offset {} of the block at {:#x} ({} bytes)", place.offset, block.address,
                         block.size);
    }
    case PointerPlace::In::kUnknownHeap:
      return fmt::format("heap memory at {:#x}, of no known block", place.address);
    case PointerPlace::In::kNowhere:
      break;
  }
  return fmt::format("memory at {:#x}", place.address);
}

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
