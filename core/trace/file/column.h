// The bytes of one column: numbers one behind the other, small ones in one byte. Writing them is
// the inner loop of recording a trace, reading them that of every report.
//
// A ColumnReader never goes past its end: there it returns zeros and remembers (ok()), so that
// loops over hostile bytes need no check of their own for each number.
#ifndef HEAPGAUGE_CORE_TRACE_FILE_COLUMN_H_
#define HEAPGAUGE_CORE_TRACE_FILE_COLUMN_H_

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heapgauge::trace {

// Differences that may go either way, small ones of both signs first.
constexpr uint64_t ZigZag(uint64_t difference) {
  return difference << 1 ^ (0 - (difference >> 63));
}
constexpr uint64_t UnZigZag(uint64_t folded) { return folded >> 1 ^ (0 - (folded & 1)); }

class ColumnWriter {
 public:
  void Byte(uint8_t value) {
    if (size_ == bytes_.size()) Grow();
    bytes_[size_++] = value;
  }
  // Seven bits to a byte, the lowest first; the high bit says that more follow.
  void Number(uint64_t value) {
    if (bytes_.size() - size_ < 10) Grow();
    uint8_t* at = bytes_.data() + size_;
    while (value >= 0x80) {
      *at++ = static_cast<uint8_t>(value | 0x80);
      value >>= 7;
    }
    *at++ = static_cast<uint8_t>(value);
    size_ = static_cast<size_t>(at - bytes_.data());
  }
  void Difference(uint64_t value, uint64_t from) { Number(ZigZag(value - from)); }
  void Text(std::string_view text) {
    Number(text.size());
    Raw(text.data(), text.size());
  }
  void Raw(const void* data, size_t size) {
    while (bytes_.size() - size_ < size) Grow();
    if (size != 0) std::memcpy(bytes_.data() + size_, data, size);
    size_ += size;
  }

  std::span<const uint8_t> bytes() const { return {bytes_.data(), size_}; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  void Clear() { size_ = 0; }

 private:
  void Grow() { bytes_.resize(bytes_.size() * 2 + 64); }

  std::vector<uint8_t> bytes_;
  size_t size_ = 0;
};

class ColumnReader {
 public:
  ColumnReader() = default;
  // The bytes must outlive the reader.
  explicit ColumnReader(std::span<const uint8_t> bytes)
      : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  uint8_t Byte() {
    if (at_ == end_) {
      ok_ = false;
      return 0;
    }
    return *at_++;
  }
  uint64_t Number() {
    if (at_ != end_ && *at_ < 0x80) return *at_++;
    return LongNumber();
  }
  uint64_t Difference(uint64_t from) { return from + UnZigZag(Number()); }
  // The text lies in the column.
  std::string_view Text() {
    const uint64_t size = Number();
    if (size > left()) {
      Spoil();
      return {};
    }
    const auto* start = reinterpret_cast<const char*>(at_);
    at_ += size;
    return {start, static_cast<size_t>(size)};
  }
  bool Raw(void* data, size_t size) {
    if (size > left()) {
      Spoil();
      return false;
    }
    if (size != 0) std::memcpy(data, at_, size);
    at_ += size;
    return true;
  }

  size_t left() const { return static_cast<size_t>(end_ - at_); }
  bool ok() const { return ok_; }
  // All was read and nothing more.
  bool done() const { return ok_ && at_ == end_; }
  void Spoil() {
    at_ = end_;
    ok_ = false;
  }

 private:
  uint64_t LongNumber() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (at_ == end_) break;
      const uint8_t byte = *at_++;
      value |= uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) return value;
    }
    Spoil();
    return 0;
  }

  const uint8_t* at_ = nullptr;
  const uint8_t* end_ = nullptr;
  bool ok_ = true;
};

}  // namespace heapgauge::trace

#endif  // HEAPGAUGE_CORE_TRACE_FILE_COLUMN_H_
