// Reads profile.proto field by field: the numbers of its fields, a cursor over a message in memory,
// and a window over the top level of a file.
//
// The bytes are untrusted. Owned by one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/byte_stream.h"
#include "core/base/result.h"

namespace heapgauge::profile_proto {

// Field numbers of profile.proto, one enum for each message. Reader and writer share them.
enum ProfileField : uint32_t {
  kSampleType = 1,
  kSample = 2,
  kMapping = 3,
  kLocation = 4,
  kFunction = 5,
  kStringTable = 6,
  kDropFrames = 7,
  kKeepFrames = 8,
  kTimeNanos = 9,
  kDurationNanos = 10,
  kPeriodType = 11,
  kPeriod = 12,
  kComment = 13,
  kDefaultSampleType = 14,
  kDocUrl = 15,
};
enum ValueTypeField : uint32_t { kTypeName = 1, kTypeUnit = 2 };
enum SampleField : uint32_t { kSampleLocation = 1, kSampleValue = 2, kSampleLabel = 3 };
enum LabelField : uint32_t { kLabelKey = 1, kLabelText = 2, kLabelNumber = 3, kLabelUnit = 4 };
enum MappingField : uint32_t {
  kMappingId = 1,
  kMappingStart = 2,
  kMappingLimit = 3,
  kMappingOffset = 4,
  kMappingFile = 5,
  kMappingBuildId = 6,
  kMappingHasFunctions = 7,
  kMappingHasFiles = 8,
  kMappingHasLines = 9,
  kMappingHasInlines = 10,
};
enum LocationField : uint32_t {
  kLocationId = 1,
  kLocationMapping = 2,
  kLocationAddress = 3,
  kLocationLine = 4,
  kLocationFolded = 5,
};
enum LineField : uint32_t { kLineFunction = 1, kLineNumber = 2, kLineColumn = 3 };
enum FunctionField : uint32_t {
  kFunctionId = 1,
  kFunctionName = 2,
  kFunctionSystemName = 3,
  kFunctionFile = 4,
  kFunctionStartLine = 5,
};

}  // namespace heapgauge::profile_proto

namespace heapgauge {

enum class WireType : uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

// Reads a number of 7 bits in each byte; null if it does not end, or only after ten bytes.
inline const char* ReadVarint(const char* at, const char* end, uint64_t* value) {
  if (at < end && static_cast<signed char>(*at) >= 0) {
    *value = static_cast<unsigned char>(*at);
    return at + 1;
  }
  uint64_t sum = 0;
  for (unsigned shift = 0; shift < 70 && at < end; shift += 7, ++at) {
    const auto byte = static_cast<unsigned char>(*at);
    sum |= uint64_t{byte & 0x7fu} << (shift < 64 ? shift : 63);
    if (byte < 0x80) {
      *value = sum;
      return at + 1;
    }
  }
  return nullptr;
}

// Steps through the bytes of one protobuf message that is in memory.
//
// It fails softly: after the first mistake there are no more fields, and error() tells what was
// wrong. Nothing is allocated or copied. A cursor is a small value; the bytes must outlive it.
//
//   while (cursor.Next()) {
//     if (cursor.field() == kId) id = cursor.Unsigned();
//   }
//   if (cursor.error() != nullptr) ...
class ProtoCursor {
 public:
  explicit ProtoCursor(std::string_view bytes)
      : begin_(bytes.data()), at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  // Moves to the next field, whose value is then in Unsigned() or Bytes(). False at the end, and
  // after a mistake.
  bool Next() {
    if (at_ == end_) return false;
    start_ = at_;
    uint64_t tag = 0;
    const char* next = ReadVarint(at_, end_, &tag);
    if (next == nullptr) return Bad("a field ends too early");
    if (tag >> 3 == 0 || tag >> 3 > 0x1fffffff) return Bad("a field has no valid number");
    field_ = static_cast<uint32_t>(tag >> 3);
    type_ = static_cast<WireType>(tag & 7);
    switch (type_) {
      case WireType::kVarint:
        next = ReadVarint(next, end_, &number_);
        if (next == nullptr) return Bad("a number ends too early");
        break;
      case WireType::kBytes: {
        uint64_t length = 0;
        next = ReadVarint(next, end_, &length);
        if (next == nullptr || length > static_cast<uint64_t>(end_ - next)) {
          return Bad("a field is longer than the message it is in");
        }
        bytes_ = {next, static_cast<size_t>(length)};
        next += length;
        break;
      }
      case WireType::kFixed64:
      case WireType::kFixed32: {
        const ptrdiff_t size = type_ == WireType::kFixed64 ? 8 : 4;
        if (end_ - next < size) return Bad("a field ends too early");
        next += size;
        break;
      }
      default:
        return Bad("a field has an unknown wire type");
    }
    at_ = next;
    return true;
  }

  uint32_t field() const { return field_; }
  WireType type() const { return type_; }
  // The field as it stands in the file, tag and all.
  std::string_view raw() const { return {start_, static_cast<size_t>(at_ - start_)}; }
  // Where the field begins, counted from the start of the message.
  size_t offset() const { return static_cast<size_t>(start_ - begin_); }

  uint64_t Unsigned() {
    if (type_ != WireType::kVarint) Bad("a number is expected, the field has another type");
    return error_ == nullptr ? number_ : 0;
  }
  int64_t Signed() { return static_cast<int64_t>(Unsigned()); }
  std::string_view Bytes() {
    if (type_ != WireType::kBytes) Bad("a text or message is expected, the field is a number");
    return error_ == nullptr ? bytes_ : std::string_view();
  }

  // Calls `use` for each number of a repeated field, which may be packed or not.
  template <typename Use>
  void ForEachNumber(Use use) {
    if (type_ != WireType::kBytes) {
      const uint64_t number = Unsigned();
      if (error_ == nullptr) use(number);
      return;
    }
    const char* at = bytes_.data();
    const char* end = at + bytes_.size();
    while (at != end) {
      uint64_t number = 0;
      at = ReadVarint(at, end, &number);
      if (at == nullptr) {
        Bad("a number ends too early");
        return;
      }
      use(number);
    }
  }

  // What was wrong, or null.
  const char* error() const { return error_; }
  bool Bad(const char* what) {
    if (error_ == nullptr) error_ = what;
    at_ = end_;
    return false;
  }

 private:
  const char* begin_;
  const char* at_;
  const char* end_;
  const char* start_ = nullptr;
  uint32_t field_ = 0;
  WireType type_ = WireType::kVarint;
  uint64_t number_ = 0;
  std::string_view bytes_;
  const char* error_ = nullptr;
};

// The top level of a protobuf file, field by field, out of a stream: only the field at hand is in
// memory.
//
// The window grows with the bytes that really come, never with the length that a field claims, and
// a field of more than kLargestField is refused.
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
