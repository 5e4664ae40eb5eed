#include "core/base/gzip_sink.h"

#include <zlib.h>

#include <algorithm>
#include <vector>

namespace heapgauge {

struct GzipSink::State {
  z_stream z{};
  bool ready = false;
  std::vector<char> buffer = std::vector<char>(64 << 10);
};

GzipSink::GzipSink(TextSink* out) : out_(out), state_(std::make_unique<State>()) {
  constexpr int kGzip = 15 + 16;
  constexpr int kLevel = 3;  // profiles hardly get smaller by more, and take much longer
  state_->ready =
      deflateInit2(&state_->z, kLevel, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY) == Z_OK;
}

GzipSink::~GzipSink() {
  if (state_->ready) deflateEnd(&state_->z);
}

Status GzipSink::Write(std::string_view bytes) {
  while (!bytes.empty()) {
    // zlib counts in 32 bits.
    const std::string_view piece = bytes.substr(0, size_t{1} << 30);
    HG_TRY(Deflate(piece, Z_NO_FLUSH));
    bytes.remove_prefix(piece.size());
  }
  return {};
}

Status GzipSink::Finish() { return Deflate({}, Z_FINISH); }

Status GzipSink::Deflate(std::string_view bytes, int flush) {
  if (!state_->ready) return Fail(ErrorCode::kIo, "zlib could not be set up");
  z_stream& z = state_->z;
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  z.avail_in = static_cast<uInt>(bytes.size());
  for (;;) {
    z.next_out = reinterpret_cast<Bytef*>(state_->buffer.data());
    z.avail_out = static_cast<uInt>(state_->buffer.size());
    const int status = deflate(&z, flush);
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) {
      return Fail(ErrorCode::kIo, "zlib could not compress the output");
    }
    const size_t made = state_->buffer.size() - z.avail_out;
    if (made > 0) HG_TRY(out_->Write({state_->buffer.data(), made}));
    if (z.avail_out > 0 && z.avail_in == 0) return {};  // all is in, and there is no more to come
  }
}

}  // namespace heapgauge
