#include "core/formats/pprof/proto_cursor.h"

#include <algorithm>
#include <cstring>

namespace heapgauge {

Result<std::string_view> ProtoWindow::Next() {
  constexpr size_t kLongestTag = 20;  // tag and length, or tag and number
  if (available() < kLongestTag) HG_TRY(Fill(kLongestTag));
  field_ = at_;
  if (available() == 0) return std::string_view();
  const char* begin = buffer_.data() + at_;
  const char* end = buffer_.data() + end_;
  uint64_t tag = 0;
  const char* next = ReadVarint(begin, end, &tag);
  if (next == nullptr) return Damaged(ErrorCode::kTruncated, "a field ends too early");
  size_t size = static_cast<size_t>(next - begin);
  uint64_t number = 0;
  switch (static_cast<WireType>(tag & 7)) {
    case WireType::kVarint:
      next = ReadVarint(next, end, &number);
      if (next == nullptr) return Damaged(ErrorCode::kTruncated, "a number ends too early");
      size = static_cast<size_t>(next - begin);
      break;
    case WireType::kFixed64:
      size += 8;
      break;
    case WireType::kFixed32:
      size += 4;
      break;
    case WireType::kBytes:
      next = ReadVarint(next, end, &number);
      if (next == nullptr) return Damaged(ErrorCode::kTruncated, "a field ends too early");
      if (number > kLargestField) {
        return Damaged(ErrorCode::kCorrupt,
                       "a field claims to have " + std::to_string(number) + " bytes");
      }
      size = static_cast<size_t>(next - begin) + static_cast<size_t>(number);
      break;
    default:
      return Damaged(ErrorCode::kCorrupt, "a field has an unknown wire type");
  }
  if (available() < size) {
    HG_TRY(Fill(size));
    field_ = at_;
    if (available() < size) {
      return Damaged(ErrorCode::kTruncated, "the file ends " + std::to_string(size - available()) +
                                                " bytes before the field that begins here does");
    }
  }
  at_ += size;
  return std::string_view(buffer_.data() + field_, size);
}

Status ProtoWindow::Fill(size_t size) {
  if (ended_) return {};
  std::memmove(buffer_.data(), buffer_.data() + at_, available());
  base_ += at_;
  end_ -= at_;
  at_ = 0;
  while (end_ < size && !ended_) {
    if (end_ == buffer_.size()) buffer_.resize(std::min(buffer_.size() * 2, size + 4096));
    HG_ASSIGN(const size_t got, stream_->Read(buffer_.data() + end_, buffer_.size() - end_));
    end_ += got;
    ended_ = got == 0;
  }
  return {};
}

}  // namespace heapgauge
