// What the program headers of an ELF file tell about its place in memory once it is loaded.
//
// Two reads of the file, for those who need nothing else of it. The file is treated as hostile: one
// that makes no sense has no headers, and the number of segments is bounded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace heapgauge {

struct ElfImage {
  uint64_t lowest_page = 0;         // address of the first page that is loaded, as linked
  uint64_t extent = 0;              // from there on, in whole pages; 0 if that makes no sense
  uint64_t thread_local_bytes = 0;  // of each thread, with what alignment takes
};
std::optional<ElfImage> ReadElfImage(const std::string& path);

}  // namespace heapgauge
