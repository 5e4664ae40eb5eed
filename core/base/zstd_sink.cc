#include "core/base/zstd_sink.h"

#include <zstd.h>

#include <vector>

namespace heapgauge {

struct ZstdSink::State {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  std::vector<char> buffer = std::vector<char>(ZSTD_CStreamOutSize());
};

ZstdSink::ZstdSink(TextSink* out) : out_(out), state_(std::make_unique<State>()) {}

ZstdSink::~ZstdSink() { ZSTD_freeCCtx(state_->context); }

Status ZstdSink::Write(std::string_view bytes) { return Compress(bytes, false); }
Status ZstdSink::Finish() { return Compress({}, true); }

Status ZstdSink::Compress(std::string_view bytes, bool end) {
  if (state_->context == nullptr) return Fail(ErrorCode::kIo, "zstd could not be set up");
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  for (;;) {
    ZSTD_outBuffer made{state_->buffer.data(), state_->buffer.size(), 0};
    const size_t left =
        ZSTD_compressStream2(state_->context, &made, &in, end ? ZSTD_e_end : ZSTD_e_continue);
    if (ZSTD_isError(left) != 0) return Fail(ErrorCode::kIo, "zstd could not compress the output");
    if (made.pos > 0) HG_TRY(out_->Write({state_->buffer.data(), made.pos}));
    if (end ? left == 0 : in.pos == in.size) return {};
  }
}

}  // namespace heapgauge
