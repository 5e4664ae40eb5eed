#include "core/base/sinks.h"

#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>
#include <vector>

#include "core/base/file.h"

namespace heapgauge {
namespace {

constexpr size_t kPiece = 64 << 10;

}  // namespace

Status DescriptorSink::Write(std::string_view text) {
  if (!failed_) return failed_;
  if (pending_.size() + text.size() < kPiece) {
    pending_ += text;
    return {};
  }
  HG_TRY(Flush(pending_));
  pending_.clear();
  if (text.size() >= kPiece) return Flush(text);
  pending_ = text;
  return {};
}

Status DescriptorSink::Finish() {
  if (failed_ && !pending_.empty()) {
    (void)Flush(pending_);
    pending_.clear();
  }
  return closed_ ? Status() : failed_;
}

Status DescriptorSink::Flush(std::string_view text) {
  if (text.empty()) return {};
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  while (!text.empty()) {
    const ssize_t n = write(fd_, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      closed_ = errno == EPIPE;
      failed_ = tl::unexpected<Error>(SystemError("cannot write " + name_, errno));
      break;
    }
    text.remove_prefix(static_cast<size_t>(n));
  }
  std::signal(SIGPIPE, before);
  return failed_;
}

FileSink::FileSink(PlacedFile file) : file_(std::move(file)), sink_(file_.fd(), file_.quoted()) {}

Result<std::unique_ptr<FileSink>> FileSink::Create(const std::string& path) {
  HG_ASSIGN(PlacedFile file, PlacedFile::Create(path));
  return std::unique_ptr<FileSink>(new FileSink(std::move(file)));
}

Status FileSink::Finish() {
  HG_TRY(sink_.Finish());
  return file_.Place();
}

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
