#include "core/elf/program_headers.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/base/file.h"

namespace heapgauge {
namespace {

constexpr uint64_t kLoadPage = 4096;

std::optional<std::vector<Elf64_Phdr>> ReadProgramHeaders(const std::string& path) {
  constexpr uint32_t kMaxSegments = 256;
  const auto file = File::OpenForReading(path);
  if (!file) return std::nullopt;
  Elf64_Ehdr header{};
  if (file->ReadAt(0, &header, sizeof header) != sizeof header ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_phentsize != sizeof(Elf64_Phdr)) {
    return std::nullopt;
  }
  std::vector<Elf64_Phdr> segments(std::min<uint32_t>(header.e_phnum, kMaxSegments));
  const size_t bytes = segments.size() * sizeof(Elf64_Phdr);
  if (file->ReadAt(header.e_phoff, segments.data(), bytes) != bytes) return std::nullopt;
  return segments;
}

}  // namespace

std::optional<ElfImage> ReadElfImage(const std::string& path) {
  constexpr uint64_t kMaxThreadLocal = 64 << 20;
  const auto segments = ReadProgramHeaders(path);
  if (!segments) return std::nullopt;
  ElfImage object;
  uint64_t low = ~uint64_t{0};
  uint64_t high = 0;
  bool makes_sense = true;
  for (const Elf64_Phdr& segment : *segments) {
    if (segment.p_type == PT_LOAD) {
      low = std::min(low, segment.p_vaddr / kLoadPage * kLoadPage);
      high = std::max(high, segment.p_vaddr + segment.p_memsz);
      makes_sense = makes_sense && segment.p_memsz <= uint64_t{1} << 46 &&
                    segment.p_vaddr <= uint64_t{1} << 47;
    }
    if (segment.p_type == PT_TLS && segment.p_memsz <= kMaxThreadLocal &&
        segment.p_align <= kLoadPage) {
      object.thread_local_bytes = segment.p_memsz + segment.p_align;
    }
  }
  if (low == ~uint64_t{0}) return std::nullopt;
  object.lowest_page = low;
  if (makes_sense && high > low) {
    object.extent = (high - low + kLoadPage - 1) / kLoadPage * kLoadPage;
  }
  return object;
}

}  // namespace heapgauge
