// A stream whose first bytes can be looked at before they are read. This is how formats are told
// apart without reading anything twice.
//
// Owned by one thread at a time.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/base/byte_stream.h"

namespace heapgauge {

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

}  // namespace heapgauge
