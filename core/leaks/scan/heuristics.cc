#include "core/leaks/scan/heuristics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/text.h"

namespace heapgauge::leaks {
namespace {

// memcheck looks at this many words behind the first one, for two that are not null.
constexpr uint64_t kTableWords = 20;
constexpr size_t kMaxRemembered = 1 << 20;

}  // namespace

bool Heuristics::MayCount(BlockFacts facts, Place place) const {
  if (place == Place::kStart || place == Place::kUnaligned) return false;
  if (place == Place::kAt24 && (facts & kIsString) != 0 && Enabled(Heuristic::kStdString)) {
    return true;
  }
  if (place == Place::kAt8 && (((facts & kIsLength) != 0 && Enabled(Heuristic::kLength64)) ||
                               ((facts & kIsArray) != 0 && Enabled(Heuristic::kNewArray)))) {
    return true;
  }
  return (facts & kMayBeObject) != 0 && Enabled(Heuristic::kMultipleInheritance) &&
         !roots_.code.empty();
}

Heuristic Heuristics::Judge(const AddressRange& block, BlockFacts facts, uint64_t address) {
  const Place place = PlaceOf(address - block.start);
  if (!MayCount(facts, place)) return Heuristic::kNone;
  if (place == Place::kAt24 && (facts & kIsString) != 0 && Enabled(Heuristic::kStdString)) {
    return Heuristic::kStdString;
  }
  if (place == Place::kAt8) {
    if ((facts & kIsLength) != 0 && Enabled(Heuristic::kLength64)) return Heuristic::kLength64;
    if ((facts & kIsArray) != 0 && Enabled(Heuristic::kNewArray)) return Heuristic::kNewArray;
  }
  if ((facts & kMayBeObject) == 0 || !Enabled(Heuristic::kMultipleInheritance)) {
    return Heuristic::kNone;
  }
  uint64_t inner = 0;
  uint64_t first = 0;
  if (address % 8 != 0 || block.start % 8 != 0 || block.end - address < 8) return Heuristic::kNone;
  if (!ReadWord(address, &inner) || !IsCodeTable(inner)) return Heuristic::kNone;
  if (!ReadWord(block.start, &first) || !IsCodeTable(first)) return Heuristic::kNone;
  return Heuristic::kMultipleInheritance;
}

bool Heuristics::IsCodeTable(uint64_t address) {
  if (address % 8 != 0 || address < 4096) return false;
  if (FindRange(roots_.files, address) == nullptr) return false;
  if (const auto it = tables_.find(address); it != tables_.end()) return it->second;
  const bool is_table = LooksLikeCodeTable(address);
  if (tables_.size() < kMaxRemembered) tables_.emplace(address, is_table);
  return is_table;
}

bool Heuristics::LooksLikeCodeTable(uint64_t address) const {
  const AddressRange* file = FindRange(roots_.files, address);
  const uint64_t end = std::min(address + (kTableWords + 1) * 8, file->end);
  int functions = 0;
  for (uint64_t at = address; at + 8 <= end; at += 8) {
    uint64_t word = 0;
    if (!ReadWord(at, &word)) return false;
    if (word == 0) continue;
    if (FindRange(roots_.code, word) == nullptr) return false;
    if (++functions == 2) return true;
  }
  return false;
}

namespace {

constexpr uint64_t kLargest = 256;  // of headers
constexpr size_t kFewest = 8;       // blocks that could tell
// A read of a program's memory is a call of the kernel.
constexpr size_t kMostReads = 10'000;

// How far behind the start of the block the pointer to it points; 0 if that is not known.
uint64_t OffsetOf(const MemoryImage& image, const KnownBlock& block, const Verdict& verdict) {
  if (!verdict.has_pointer || verdict.by_register) return 0;
  uint64_t value = 0;
  if (image.Read(verdict.pointer, sizeof value, &value) != sizeof value) return 0;
  const uint64_t offset = value - block.address;
  return offset < block.size ? offset : 0;
}

}  // namespace

std::optional<BlockHeaders> FindBlockHeaders(const MemoryImage& image,
                                             const std::vector<KnownBlock>& blocks,
                                             const std::vector<Verdict>& verdicts) {
  std::array<size_t, kLargest + 1> at{};
  size_t interior = 0;
  BlockHeaders found;
  for (size_t i = 0; i < verdicts.size(); ++i) {
    if (verdicts[i].kind != Kind::kPossible) continue;
    if (found.looked_at == kMostReads) {
      found.all_seen = false;
      break;
    }
    ++found.looked_at;
    const uint64_t offset = OffsetOf(image, blocks[i], verdicts[i]);
    if (offset == 0) continue;  // held by another one that is possibly lost
    ++interior;
    if (offset <= kLargest) ++at[offset];
  }
  const auto most = std::max_element(at.begin(), at.end());
  found.bytes = static_cast<uint64_t>(most - at.begin());
  found.blocks = *most;
  if (found.blocks < kFewest || found.blocks * 10 < interior * 8) return std::nullopt;
  return found;
}

std::string NoteOf(const BlockHeaders& headers) {
  return fmt::format(
      "{} of {} possibly lost blocks{} are pointed to {} bytes behind their start, as by an "
      "allocator of the program's own that keeps a header there: they are probably in use",
      FormatCount(static_cast<double>(headers.blocks)),
      FormatCount(static_cast<double>(headers.looked_at)),
      headers.all_seen ? "" : " that were looked at", headers.bytes);
}

}  // namespace heapgauge::leaks
