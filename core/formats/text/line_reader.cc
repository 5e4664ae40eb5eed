#include "core/formats/text/line_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/base/text.h"

namespace heapgauge {
namespace {

constexpr size_t kBuffer = size_t{256} << 10;
constexpr size_t kQuoted = 60;

}  // namespace

LineReader::LineReader(ByteStream* stream, std::string format, std::string name)
    : stream_(stream), format_(std::move(format)), name_(std::move(name)), buffer_(kBuffer) {}

Result<bool> LineReader::Next() {
  if (put_back_) {
    put_back_ = false;
    return true;
  }
  size_t searched = 0;
  for (;;) {
    const char* start = buffer_.data() + begin_;
    const size_t size = end_ - begin_;
    const void* newline = std::memchr(start + searched, '\n', size - searched);
    if (newline == nullptr && !at_end_) {
      searched = size;
      if (size >= kMaxLine) {
        ++number_;
        return Fail(ErrorCode::kCorrupt,
                    fmt::format("longer than {} bytes; no profile has such lines", kMaxLine));
      }
      HG_TRY(Refill());
      continue;
    }
    if (newline == nullptr && size == 0) {
      line_ = {};
      return false;
    }
    const size_t length =
        newline == nullptr ? size : static_cast<size_t>(static_cast<const char*>(newline) - start);
    begin_ += newline == nullptr ? length : length + 1;
    line_ = std::string_view(start, length);
    if (!line_.empty() && line_.back() == '\r') line_.remove_suffix(1);
    ++number_;
    return true;
  }
}

Result<bool> LineReader::Refill() {
  if (begin_ != 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ == buffer_.size()) buffer_.resize(buffer_.size() * 2);
  HG_ASSIGN(const size_t got, stream_->Read(buffer_.data() + end_, buffer_.size() - end_));
  end_ += got;
  at_end_ = got == 0;
  return !at_end_;
}

Result<size_t> LineReader::Read(char* buffer, size_t size) {
  if (begin_ == end_ && !at_end_) HG_TRY(Refill());
  const size_t count = std::min(size, end_ - begin_);
  if (count != 0) std::memcpy(buffer, buffer_.data() + begin_, count);
  begin_ += count;
  return count;
}

tl::unexpected<Error> LineReader::Fail(ErrorCode code, std::string_view what) const {
  return heapgauge::Fail(code, fmt::format("{}: {}: line {}: {}", format_, name_, number_, what));
}

tl::unexpected<Error> LineReader::FailInLine(std::string_view what) const {
  std::string quoted = Printable(line_.substr(0, kQuoted));
  if (line_.size() > kQuoted) quoted += "...";
  return Fail(ErrorCode::kCorrupt, fmt::format("{}: \"{}\"", what, quoted));
}

}  // namespace heapgauge
