#include "core/base/peeking_stream.h"

#include <algorithm>
#include <cstring>

namespace heapgauge {

Result<std::string_view> PeekingStream::Peek(size_t size) {
  ahead_.erase(0, used_);
  used_ = 0;
  while (ahead_.size() < size) {
    const size_t had = ahead_.size();
    ahead_.resize(size);
    auto got = stream_->Read(ahead_.data() + had, size - had);
    ahead_.resize(had + (got ? *got : 0));
    if (!got) return tl::unexpected<Error>(std::move(got).error());
    if (*got == 0) break;
  }
  return std::string_view(ahead_).substr(0, size);
}

Result<size_t> PeekingStream::Read(char* buffer, size_t size) {
  if (used_ == ahead_.size()) return stream_->Read(buffer, size);
  const size_t n = std::min(size, ahead_.size() - used_);
  std::memcpy(buffer, ahead_.data() + used_, n);
  used_ += n;
  return n;
}

}  // namespace heapgauge
