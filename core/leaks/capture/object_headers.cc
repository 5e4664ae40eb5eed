#include "core/leaks/capture/object_headers.h"

#include <elf.h>

#include <algorithm>
#include <cstring>

#include "core/base/file.h"

namespace heapgauge::leaks {

std::optional<ObjectHeaders> ReadObjectHeaders(const std::string& path) {
  constexpr uint64_t kPage = 4096;
  constexpr uint32_t kMaxSegments = 256;
  constexpr uint64_t kMaxThreadLocal = 64 << 20;
  const auto file = File::OpenForReading(path);
  if (!file) return std::nullopt;
  Elf64_Ehdr header{};
  if (file->ReadAt(0, &header, sizeof header) != sizeof header ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_phentsize != sizeof(Elf64_Phdr)) {
    return std::nullopt;
  }
  ObjectHeaders found;
  uint64_t lowest = ~uint64_t{0};
  for (uint32_t i = 0; i < std::min<uint32_t>(header.e_phnum, kMaxSegments); ++i) {
    Elf64_Phdr segment{};
    if (file->ReadAt(header.e_phoff + uint64_t{i} * sizeof segment, &segment, sizeof segment) !=
        sizeof segment) {
      return std::nullopt;
    }
    if (segment.p_type == PT_LOAD) lowest = std::min(lowest, segment.p_vaddr / kPage * kPage);
    if (segment.p_type == PT_TLS && segment.p_memsz <= kMaxThreadLocal &&
        segment.p_align <= kPage) {
      found.thread_local_bytes = segment.p_memsz + segment.p_align;
    }
  }
  if (lowest == ~uint64_t{0}) return std::nullopt;
  found.lowest_page = lowest;
  return found;
}

}  // namespace heapgauge::leaks
