#include "core/leaks/capture/object_headers.h"

#include <algorithm>

#include "core/elf/program_headers.h"

namespace heapgauge::leaks {

std::optional<ObjectHeaders> ReadObjectHeaders(const std::string& path) {
  constexpr uint64_t kPage = 4096;
  constexpr uint64_t kMaxThreadLocal = 64 << 20;
  const auto segments = ReadProgramHeaders(path);
  if (!segments) return std::nullopt;
  ObjectHeaders found;
  uint64_t lowest = ~uint64_t{0};
  for (const Elf64_Phdr& segment : *segments) {
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
