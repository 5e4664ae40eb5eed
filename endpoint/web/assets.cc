#include "endpoint/web/assets.h"

#include "core/base/byte_stream.h"

namespace heapgauge::endpoint {

Result<std::string> Unpacked(const WebAsset& asset) {
  HG_ASSIGN(const auto stream, Decompressed(StreamOf(asset.gzip), "the web UI"));
  std::string text;
  char buffer[16 << 10];
  while (true) {
    HG_ASSIGN(const size_t count, stream->Read(buffer, sizeof(buffer)));
    if (count == 0) return text;
    text.append(buffer, count);
  }
}

}  // namespace heapgauge::endpoint
