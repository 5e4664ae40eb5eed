// The top level of a protobuf file, field by field, out of a stream: only the field at hand is in
// memory.
//
// The window grows with the bytes that really come, never with the length that a field claims, and
// a field of more than kLargestField is refused. Owned by one thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/byte_stream.h"
#include "core/base/result.h"

namespace heapgauge {

class ProtoWindow {
 public:
  static constexpr size_t kLargestField = size_t{1} << 30;

  explicit ProtoWindow(ByteStream* stream) : stream_(stream), buffer_(256 << 10) {}

  // The next field as it stands in the file, tag and all; empty at the end of the stream. The view
  // is good until the next call. Errors have an offset and a message without it.
  Result<std::string_view> Next();

  // The last error was about the fields, not about the stream.
  bool is_damaged() const { return is_damaged_; }

  // Where the field at hand begins in the file.
  uint64_t offset() const { return base_ + field_; }

 private:
  // Has `size` bytes from at_ on in the buffer, fewer only at the end.
  Status Fill(size_t size);
  tl::unexpected<Error> Damaged(ErrorCode code, const std::string& what) {
    is_damaged_ = true;
    return Fail(code, what, offset());
  }
  size_t available() const { return end_ - at_; }

  ByteStream* stream_;
  std::vector<char> buffer_;
  uint64_t base_ = 0;  // of buffer_[0] in the file
  size_t field_ = 0;
  size_t at_ = 0;
  size_t end_ = 0;
  bool ended_ = false;
  bool is_damaged_ = false;
};

}  // namespace heapgauge
