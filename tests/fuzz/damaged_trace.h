// What the fuzz targets of traces have in common: any bytes as a trace, or damage to a good one
// that no checksum finds.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "core/trace/file/trace_file.h"
#include "core/trace/testing/forge_trace.h"

namespace heapgauge::trace::testing {

// The file that an input stands for. Its first byte tells whether the rest is a whole file, or
// pieces of (offset, 3 bytes): then the input decides where the damage goes.
inline std::string FileOf(const uint8_t* data, size_t size) {
  if (data[0] % 4 == 0) return {reinterpret_cast<const char*>(data + 1), size - 1};
  static const std::string good = TraceToDamage();
  std::string bytes = good;
  for (size_t at = 1; at + 5 <= size; at += 5) {
    uint16_t offset = 0;
    std::memcpy(&offset, data + at, sizeof offset);
    std::memcpy(&bytes[offset % (bytes.size() - 3)], data + at + 2, 3);
  }
  return WithChecksums(bytes);
}

// Calls visit(trace) if the input stands for something that can be opened as a trace.
template <typename Visit>
void WithDamagedTrace(const uint8_t* data, size_t size, const Visit& visit) {
  if (size == 0) return;
  const std::string bytes = FileOf(data, size);
  const int fd = memfd_create("trace", MFD_CLOEXEC);
  if (fd < 0) return;
  if (write(fd, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size())) {
    const auto trace = TraceFile::Open("/proc/self/fd/" + std::to_string(fd));
    if (trace) visit(**trace);
  }
  close(fd);
}

}  // namespace heapgauge::trace::testing
