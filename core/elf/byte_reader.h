// Reads little-endian numbers out of bytes that may be damaged or made to harm. Reading past the
// end gives zeroes and leaves the reader failed, at its end: loops that stop at the end stop then
// too, so that callers can check once instead of at each field.
//
// A view; the bytes must outlive it. No allocation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace heapgauge {

using Bytes = std::span<const uint8_t>;

// The part that starts at `offset` and has at most `size` bytes; empty if there is none.
inline Bytes SliceOf(Bytes bytes, uint64_t offset, uint64_t size = ~uint64_t{0}) {
  if (offset >= bytes.size()) return {};
  const uint64_t rest = bytes.size() - offset;
  return bytes.subspan(static_cast<size_t>(offset), static_cast<size_t>(size < rest ? size : rest));
}

// The zero-terminated text at `offset`; empty if it does not end within the bytes.
inline std::string_view TextAt(Bytes bytes, uint64_t offset) {
  const Bytes rest = SliceOf(bytes, offset);
  if (rest.empty()) return {};
  const void* zero = std::memchr(rest.data(), 0, rest.size());
  if (zero == nullptr) return {};
  return {reinterpret_cast<const char*>(rest.data()),
          static_cast<size_t>(static_cast<const uint8_t*>(zero) - rest.data())};
}

class ByteReader {
 public:
  ByteReader() = default;
  explicit ByteReader(Bytes bytes, uint64_t offset = 0)
      : begin_(bytes.data()), at_(bytes.data()), end_(bytes.data() + bytes.size()) {
    Skip(offset);
  }

  bool failed() const { return failed_; }
  bool at_end() const { return at_ == end_; }
  uint64_t offset() const { return static_cast<uint64_t>(at_ - begin_); }
  uint64_t left() const { return static_cast<uint64_t>(end_ - at_); }
  const uint8_t* position() const { return at_; }

  void Fail() {
    at_ = end_;
    failed_ = true;
  }
  void Skip(uint64_t size) {
    if (size > left()) return Fail();
    at_ += size;
  }
  // To an offset ahead or behind.
  void Seek(uint64_t offset) {
    if (offset > static_cast<uint64_t>(end_ - begin_)) return Fail();
    at_ = begin_ + offset;
  }

  template <typename T>
  T Read() {
    if (left() < sizeof(T)) {
      Fail();
      return 0;
    }
    T value;
    std::memcpy(&value, at_, sizeof(T));
    at_ += sizeof(T);
    return value;
  }
  uint8_t U8() { return Read<uint8_t>(); }
  uint16_t U16() { return Read<uint16_t>(); }
  uint32_t U32() { return Read<uint32_t>(); }
  uint64_t U64() { return Read<uint64_t>(); }
  uint32_t U24() {
    const uint32_t low = U16();
    return low | static_cast<uint32_t>(U8()) << 16;
  }
  // A number of 1, 2, 4 or 8 bytes.
  uint64_t Unsigned(unsigned size) {
    switch (size) {
      case 1:
        return U8();
      case 2:
        return U16();
      case 4:
        return U32();
      case 8:
        return U64();
      default:
        Fail();
        return 0;
    }
  }

  uint64_t Uleb() {
    if (at_ != end_ && *at_ < 0x80) return *at_++;
    return LongUleb();
  }
  int64_t Sleb() {
    uint64_t value = 0;
    unsigned shift = 0;
    while (at_ != end_) {
      const uint8_t byte = *at_++;
      if (shift < 64) value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      shift += 7;
      if (byte < 0x80) {
        if (shift < 64 && (byte & 0x40) != 0) value |= ~uint64_t{0} << shift;
        return static_cast<int64_t>(value);
      }
    }
    Fail();
    return 0;
  }
  void SkipLeb() {
    while (at_ != end_) {
      if (*at_++ < 0x80) return;
    }
    Fail();
  }
  std::string_view CString() {
    const void* zero = at_ == end_ ? nullptr : std::memchr(at_, 0, left());
    if (zero == nullptr) {
      Fail();
      return {};
    }
    const std::string_view text(reinterpret_cast<const char*>(at_),
                                static_cast<size_t>(static_cast<const uint8_t*>(zero) - at_));
    at_ += text.size() + 1;
    return text;
  }
  // The DWARF length field; sets the size of offsets, 4 or 8.
  uint64_t InitialLength(uint8_t* offset_size) {
    const uint64_t length = U32();
    *offset_size = 4;
    if (length < 0xfffffff0) return length;
    if (length != 0xffffffff) {
      Fail();
      return 0;
    }
    *offset_size = 8;
    return U64();
  }

 private:
  uint64_t LongUleb() {
    uint64_t value = 0;
    unsigned shift = 0;
    while (at_ != end_) {
      const uint8_t byte = *at_++;
      if (shift < 64) value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      shift += 7;
      if (byte < 0x80) return value;
    }
    Fail();
    return 0;
  }

  const uint8_t* begin_ = nullptr;
  const uint8_t* at_ = nullptr;
  const uint8_t* end_ = nullptr;
  bool failed_ = false;
};

}  // namespace heapgauge
