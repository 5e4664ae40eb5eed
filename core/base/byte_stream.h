// Bytes that come one after the other: a file, memory, or what comes out when one of these is
// decompressed. Readers of foreign formats take their input from here, so that a profile is never
// in memory as a whole.
//
// A stream is owned by one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace heapgauge {

class ByteStream {
 public:
  virtual ~ByteStream() = default;
  // Fills `buffer` with up to `size` bytes; 0 only at the end. Errors say what and at which byte.
  virtual Result<size_t> Read(char* buffer, size_t size) = 0;
};

// The bytes must outlive the stream.
std::unique_ptr<ByteStream> StreamOf(std::string_view bytes);
// A file, or "-" for standard input. Directories and devices are refused; a pipe is read as it
// comes, one without a writer is empty.
Result<std::unique_ptr<ByteStream>> OpenStream(const std::string& path);

// The stream itself if it is not compressed, otherwise what is in it (gzip with any number of
// members, zstd), found by its first bytes. No more than `limit` bytes come out: a few kilobytes
// can decompress to terabytes.
inline constexpr uint64_t kDecompressLimit = uint64_t{64} << 30;
Result<std::unique_ptr<ByteStream>> Decompressed(std::unique_ptr<ByteStream> stream,
                                                 const std::string& name,
                                                 uint64_t limit = kDecompressLimit);

}  // namespace heapgauge
