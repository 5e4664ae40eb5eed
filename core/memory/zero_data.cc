#include "core/memory/zero_data.h"

#include <algorithm>

#include "core/elf/program_headers.h"

namespace heapgauge {
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

}  // namespace heapgauge
