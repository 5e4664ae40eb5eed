// gzip and zstd as streams: Decompressed() of byte_stream.h.

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/base/byte_stream.h"
#include "core/base/text.h"

namespace heapgauge {
namespace {

constexpr size_t kChunk = 128 << 10;

// Compressed input, and what both kinds say when it is bad.
class PackedInput {
 public:
  PackedInput(std::unique_ptr<ByteStream> stream, std::string name)
      : stream_(std::move(stream)), name_(std::move(name)), buffer_(kChunk) {}

  // Makes at least one byte available; false at the end.
  Result<bool> Fill() {
    if (at_ < end_) return true;
    base_ += end_;
    at_ = end_ = 0;
    HG_ASSIGN(end_, stream_->Read(buffer_.data(), buffer_.size()));
    return end_ > 0;
  }
  const char* data() const { return buffer_.data() + at_; }
  size_t size() const { return end_ - at_; }
  void Use(size_t bytes) { at_ += bytes; }

  tl::unexpected<Error> Bad(ErrorCode code, const std::string& what) const {
    const uint64_t offset = base_ + at_;
    return Fail(code,
                name_ + ": byte " + std::to_string(offset) + " of the compressed data: " + what,
                offset);
  }
  tl::unexpected<Error> TooMuch(uint64_t limit) const {
    return Bad(ErrorCode::kUnsupported, "more than " + FormatBytes(static_cast<double>(limit)) +
                                            " come out, which is no profile");
  }

 private:
  std::unique_ptr<ByteStream> stream_;
  std::string name_;
  std::vector<char> buffer_;
  uint64_t base_ = 0;
  size_t at_ = 0;
  size_t end_ = 0;
};

class GzipStream final : public ByteStream {
 public:
  GzipStream(std::unique_ptr<ByteStream> stream, const std::string& name, uint64_t limit)
      : input_(std::move(stream), name), limit_(limit) {
    constexpr int kGzip = 15 + 16;
    ready_ = inflateInit2(&z_, kGzip) == Z_OK;
  }
  GzipStream(const GzipStream&) = delete;
  GzipStream& operator=(const GzipStream&) = delete;
  ~GzipStream() override {
    if (ready_) inflateEnd(&z_);
  }

  Result<size_t> Read(char* buffer, size_t size) override {
    if (!ready_) return input_.Bad(ErrorCode::kIo, "zlib could not be set up");
    const size_t wanted = std::min<size_t>(size, 1 << 30);
    z_.next_out = reinterpret_cast<Bytef*>(buffer);
    z_.avail_out = static_cast<uInt>(wanted);
    while (z_.avail_out == wanted && !ended_) HG_TRY(Step());
    const size_t made = wanted - z_.avail_out;
    made_ += made;
    if (made_ > limit_) return input_.TooMuch(limit_);
    return made;
  }

 private:
  Status Step() {
    HG_ASSIGN(const bool more, input_.Fill());
    if (between_) {
      // A further member follows, or zeros that fill up a block of a tape, or nothing.
      if (more && !padding_ && *input_.data() != 0) {
        between_ = false;
        inflateReset(&z_);
      } else {
        return Padding(more);
      }
    }
    if (!more) return input_.Bad(ErrorCode::kTruncated, "it ends in the middle of gzip data");
    z_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input_.data()));
    z_.avail_in = static_cast<uInt>(input_.size());
    const int status = inflate(&z_, Z_NO_FLUSH);
    input_.Use(input_.size() - z_.avail_in);
    if (status == Z_STREAM_END) {
      between_ = true;
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      return input_.Bad(ErrorCode::kCorrupt, std::string("damaged gzip data") +
                                                 (z_.msg != nullptr ? ": " : "") +
                                                 (z_.msg != nullptr ? z_.msg : ""));
    }
    return {};
  }

  Status Padding(bool more) {
    padding_ = true;
    if (!more) {
      ended_ = true;
      return {};
    }
    const char* end = input_.data() + input_.size();
    const char* other = std::find_if(input_.data(), end, [](char c) { return c != 0; });
    input_.Use(static_cast<size_t>(other - input_.data()));
    if (other != end) return input_.Bad(ErrorCode::kCorrupt, "something follows the gzip data");
    return {};
  }

  PackedInput input_;
  uint64_t limit_;
  z_stream z_{};
  bool ready_ = false;
  bool between_ = false;  // a member has ended
  bool padding_ = false;
  bool ended_ = false;
  uint64_t made_ = 0;
};

class ZstdStream final : public ByteStream {
 public:
  ZstdStream(std::unique_ptr<ByteStream> stream, const std::string& name, uint64_t limit)
      : input_(std::move(stream), name), limit_(limit), z_(ZSTD_createDStream()) {}
  ZstdStream(const ZstdStream&) = delete;
  ZstdStream& operator=(const ZstdStream&) = delete;
  ~ZstdStream() override { ZSTD_freeDStream(z_); }

  Result<size_t> Read(char* buffer, size_t size) override {
    if (z_ == nullptr) return input_.Bad(ErrorCode::kIo, "zstd could not be set up");
    ZSTD_outBuffer out{buffer, size, 0};
    while (out.pos == 0 && size > 0) {
      HG_ASSIGN(const bool more, input_.Fill());
      ZSTD_inBuffer in{input_.data(), input_.size(), 0};
      const size_t status = ZSTD_decompressStream(z_, &out, &in);
      input_.Use(in.pos);
      if (ZSTD_isError(status) != 0) {
        return input_.Bad(ErrorCode::kCorrupt,
                          std::string("damaged zstd data: ") + ZSTD_getErrorName(status));
      }
      if (in.pos > 0) in_frame_ = status != 0;
      if (!more && out.pos == 0) {
        if (!in_frame_) break;
        return input_.Bad(ErrorCode::kTruncated, "it ends in the middle of zstd data");
      }
    }
    made_ += out.pos;
    if (made_ > limit_) return input_.TooMuch(limit_);
    return out.pos;
  }

 private:
  PackedInput input_;
  uint64_t limit_;
  ZSTD_DStream* z_;
  bool in_frame_ = false;
  uint64_t made_ = 0;
};

}  // namespace

Result<std::unique_ptr<ByteStream>> Decompressed(std::unique_ptr<ByteStream> stream,
                                                 const std::string& name, uint64_t limit) {
  auto peeking = std::make_unique<PeekingStream>(std::move(stream));
  HG_ASSIGN(const std::string_view start, peeking->Peek(4));
  std::unique_ptr<ByteStream> result;
  if (start.starts_with("\x1f\x8b")) {
    result = std::make_unique<GzipStream>(std::move(peeking), name, limit);
  } else if (start == "\x28\xb5\x2f\xfd") {
    result = std::make_unique<ZstdStream>(std::move(peeking), name, limit);
  } else {
    result = std::move(peeking);
  }
  return result;
}

}  // namespace heapgauge
