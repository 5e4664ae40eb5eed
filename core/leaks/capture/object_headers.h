// What the program headers of a loaded file tell about its place in memory. The file is treated as
// hostile: one that makes no sense has no headers.
#ifndef HEAPGAUGE_CORE_LEAKS_CAPTURE_OBJECT_HEADERS_H_
#define HEAPGAUGE_CORE_LEAKS_CAPTURE_OBJECT_HEADERS_H_

#include <cstdint>
#include <optional>
#include <string>

namespace heapgauge::leaks {

struct ObjectHeaders {
  uint64_t lowest_page = 0;         // address of the first page that is loaded, as linked
  uint64_t thread_local_bytes = 0;  // of each thread, with what alignment takes
};
std::optional<ObjectHeaders> ReadObjectHeaders(const std::string& path);

}  // namespace heapgauge::leaks

#endif  // HEAPGAUGE_CORE_LEAKS_CAPTURE_OBJECT_HEADERS_H_
