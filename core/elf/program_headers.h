// The program headers of an ELF file: where its parts lie in memory once it is loaded.
//
// The file is treated as hostile: a header that makes no sense counts as unreadable, and the number
// of segments is bounded.
#ifndef HEAPGAUGE_CORE_ELF_PROGRAM_HEADERS_H_
#define HEAPGAUGE_CORE_ELF_PROGRAM_HEADERS_H_

#include <elf.h>

#include <optional>
#include <string>
#include <vector>

namespace heapgauge {

std::optional<std::vector<Elf64_Phdr>> ReadProgramHeaders(const std::string& path);

}  // namespace heapgauge

#endif  // HEAPGAUGE_CORE_ELF_PROGRAM_HEADERS_H_
