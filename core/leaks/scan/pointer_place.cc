#include "core/leaks/scan/pointer_place.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.h"
#include "core/leaks/scan/data_symbols.h"

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

}  // namespace heapgauge::leaks
