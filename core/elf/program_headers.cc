#include "core/elf/program_headers.h"

#include <algorithm>
#include <cstring>

#include "core/base/file.h"

namespace heapgauge {

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

}  // namespace heapgauge
