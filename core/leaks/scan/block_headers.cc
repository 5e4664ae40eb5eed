#include "core/leaks/scan/block_headers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/text.h"

namespace heapgauge::leaks {
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
