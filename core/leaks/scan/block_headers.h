// Programs with an allocator of their own keep a header in front of what they hand out, and hold
// their blocks by what is behind it (MariaDB's my_malloc does). All that a check sees then is
// pointers into the middle, so that the blocks are possibly lost, as memcheck says too. That all of
// them point so many bytes behind the start tells what it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/leaks/scan/known_blocks.h"
#include "core/leaks/scan/memory_image.h"
#include "core/leaks/scan/verdict.h"

namespace heapgauge::leaks {

struct BlockHeaders {
  uint64_t bytes = 0;    // of one
  size_t blocks = 0;     // that are held behind it
  size_t looked_at = 0;  // possibly lost ones among which these are
  bool all_seen = true;  // there are no others: of very many only some are looked at
};

// Of possibly lost blocks. Nothing if there are few, or their pointers have nothing in common.
// REQUIRES: verdicts are those of the blocks.
std::optional<BlockHeaders> FindBlockHeaders(const MemoryImage& image,
                                             const std::vector<KnownBlock>& blocks,
                                             const std::vector<Verdict>& verdicts);

std::string NoteOf(const BlockHeaders& headers);

}  // namespace heapgauge::leaks
