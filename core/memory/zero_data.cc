#include "core/memory/zero_data.h"

#include <algorithm>
#include <optional>

#include "core/elf/program_headers.h"

namespace heapgauge {
namespace {

constexpr uint64_t kObjectPage = 4096;

// The size of the object in memory, from the page of its lowest address on.
std::optional<uint64_t> ExtentOf(const std::string& path) {
  const auto segments = ReadProgramHeaders(path);
  if (!segments) return std::nullopt;
  uint64_t low = ~uint64_t{0};
  uint64_t high = 0;
  for (const Elf64_Phdr& segment : *segments) {
    if (segment.p_type != PT_LOAD) continue;
    if (segment.p_memsz > uint64_t{1} << 46 || segment.p_vaddr > uint64_t{1} << 47) {
      return std::nullopt;
    }
    low = std::min(low, segment.p_vaddr / kObjectPage * kObjectPage);
    high = std::max(high, segment.p_vaddr + segment.p_memsz);
  }
  if (high <= low) return std::nullopt;
  return (high - low + kObjectPage - 1) / kObjectPage * kObjectPage;
}

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
    if (const auto extent = ExtentOf(root + data.name)) {
      const uint64_t end = mappings[first].start + *extent;
      ends[mappings[i].start] = std::clamp(end, mappings[i].start, mappings[i].end);
    }
  }
  return ends;
}

}  // namespace heapgauge
