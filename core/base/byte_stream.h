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

// A stream whose first bytes can be looked at before they are read. This is how formats are told
// apart without reading anything twice.
//
// Owned by one thread at a time.
class PeekingStream final : public ByteStream {
 public:
  explicit PeekingStream(std::unique_ptr<ByteStream> stream) : stream_(std::move(stream)) {}

  // The next `size` bytes, fewer only at the end. They stay in the stream. The view is good until
  // the next call.
  Result<std::string_view> Peek(size_t size);

  Result<size_t> Read(char* buffer, size_t size) override;

 private:
  std::unique_ptr<ByteStream> stream_;
  std::string ahead_;
  size_t used_ = 0;  // of `ahead_`
};

// Reads a stream on a thread of its own, a little ahead of whoever uses it. Worth it where making
// the bytes costs as much as using them: decompressing a profile while it is decoded.
//
// Four pieces of 256 KiB are in flight at most. The thread starts with the second piece, so small
// inputs do not pay for it. The stream given away must not block for ever (a regular file does
// not): the destructor waits for the read that is under way.
std::unique_ptr<ByteStream> ReadAhead(std::unique_ptr<ByteStream> stream);

}  // namespace heapgauge
