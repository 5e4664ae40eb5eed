#include "core/elf/decompress.h"

#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>

namespace heapgauge {
namespace {

// deflate cannot do better than this and real debug sections are far from it, so a larger claim is
// a lie that would cost memory.
constexpr uint64_t kBestRatio = 1032;
constexpr uint64_t kLargest = uint64_t{2} << 30;

bool Believable(uint64_t size, Bytes data) {
  return size <= kLargest && size <= data.size() * kBestRatio + 64;
}

}  // namespace

std::optional<std::vector<uint8_t>> DecompressZlib(Bytes data, uint64_t size) {
  if (!Believable(size, data)) return std::nullopt;
  std::vector<uint8_t> result(static_cast<size_t>(size));
  uLongf length = size;
  uLong used = data.size();
  if (uncompress2(result.data(), &length, data.data(), &used) != Z_OK || length != size) {
    return std::nullopt;
  }
  return result;
}

std::optional<std::vector<uint8_t>> DecompressZstd(Bytes data, uint64_t size) {
  if (!Believable(size, data)) return std::nullopt;
  std::vector<uint8_t> result(static_cast<size_t>(size));
  const size_t length = ZSTD_decompress(result.data(), result.size(), data.data(), data.size());
  if (ZSTD_isError(length) != 0 || length != size) return std::nullopt;
  return result;
}

std::optional<std::vector<uint8_t>> DecompressXz(Bytes data, size_t limit) {
  constexpr uint64_t kDecoderMemory = 128 << 20;
  lzma_stream stream = LZMA_STREAM_INIT;
  if (lzma_stream_decoder(&stream, kDecoderMemory, LZMA_CONCATENATED) != LZMA_OK) {
    return std::nullopt;
  }
  std::vector<uint8_t> result;
  stream.next_in = data.data();
  stream.avail_in = data.size();
  lzma_ret status = LZMA_OK;
  while (status == LZMA_OK) {
    const size_t done = stream.total_out;
    if (done == result.size()) {
      if (done >= limit) break;
      result.resize(std::min(limit, std::max<size_t>(done * 2, 64 << 10)));
    }
    stream.next_out = result.data() + done;
    stream.avail_out = result.size() - done;
    status = lzma_code(&stream, LZMA_FINISH);
  }
  result.resize(stream.total_out);
  lzma_end(&stream);
  if (status != LZMA_STREAM_END) return std::nullopt;
  return result;
}

}  // namespace heapgauge
