// The bytes of one column: numbers one behind the other, small ones in one byte. Writing them is
// the inner loop of recording a trace, reading them that of every report.
//
// A ColumnReader never goes past its end: there it returns zeros and remembers (ok()), so that
// loops over hostile bytes need no check of their own for each number.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

namespace heapgauge::trace {

// Differences that may go either way, small ones of both signs first.
constexpr uint64_t ZigZag(uint64_t difference) {
  return difference << 1 ^ (0 - (difference >> 63));
}
constexpr uint64_t UnZigZag(uint64_t folded) { return folded >> 1 ^ (0 - (folded & 1)); }

class ColumnWriter {
 public:
  void Byte(uint8_t value) {
    Reserve(1);
    PutByte(value);
  }
  // Seven bits to a byte, the lowest first; the high bit says that more follow.
  void Number(uint64_t value) {
    Reserve(kMaxNumberBytes);
    PutNumber(value);
  }
  void Difference(uint64_t value, uint64_t from) { Number(ZigZag(value - from)); }
  // The lowest `count` <= 8 bytes of `value`, the lowest first.
  void Little(uint64_t value, size_t count) {
    Reserve(8);
    PutLittle(value, count);
  }

  // The same without a look whether there is room: REQUIRES that it was reserved, 8 bytes for
  // PutLittle and kMaxNumberBytes for numbers.
  static constexpr size_t kMaxNumberBytes = 10;
  void Reserve(size_t bytes) {
    if (left() < bytes) Grow(bytes);
  }
  void PutByte(uint8_t value) { *at_++ = value; }
  void PutNumber(uint64_t value) {
    uint8_t* at = at_;
    while (value >= 0x80) {
      *at++ = static_cast<uint8_t>(value | 0x80);
      value >>= 7;
    }
    *at++ = static_cast<uint8_t>(value);
    at_ = at;
  }
  void PutDifference(uint64_t value, uint64_t from) { PutNumber(ZigZag(value - from)); }
  void PutLittle(uint64_t value, size_t count) {
    std::memcpy(at_, &value, 8);
    at_ += count;
  }

  void Text(std::string_view text) {
    Number(text.size());
    Raw(text.data(), text.size());
  }
  void Raw(const void* data, size_t size) {
    Reserve(size);
    if (size != 0) std::memcpy(at_, data, size);
    at_ += size;
  }

  std::span<const uint8_t> bytes() const { return {start_.get(), size()}; }
  size_t size() const { return static_cast<size_t>(at_ - start_.get()); }
  bool empty() const { return at_ == start_.get(); }
  void Clear() { at_ = start_.get(); }

 private:
  size_t left() const { return static_cast<size_t>(end_ - at_); }
  void Grow(size_t needed) {
    const size_t used = size();
    const size_t capacity = (used + needed) * 2 + 64;
    std::unique_ptr<uint8_t[]> larger(new uint8_t[capacity]);
    if (used != 0) std::memcpy(larger.get(), start_.get(), used);
    start_ = std::move(larger);
    at_ = start_.get() + used;
    end_ = start_.get() + capacity;
  }

  std::unique_ptr<uint8_t[]> start_;
  uint8_t* at_ = nullptr;
  uint8_t* end_ = nullptr;
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
  uint64_t Little(size_t count) {
    uint64_t value = 0;
    if (left() >= 8) {
      std::memcpy(&value, at_, 8);
      at_ += count;
      return count == 8 ? value : value & ((uint64_t{1} << 8 * count) - 1);
    }
    Raw(&value, count);
    return value;
  }
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

  // The byte that comes so much later, 0 if there is none.
  uint8_t Peek(size_t ahead) const { return ahead < left() ? at_[ahead] : uint8_t{0}; }

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

// Numbers that are mostly below 248, in two columns: a byte for each, and the rest of the larger
// ones. What is in each column is of one kind, and compresses better than mixed.
inline constexpr uint64_t kSplitLimit = 248;

class SplitWriter {
 public:
  void Reserve(size_t numbers) {
    head_.Reserve(numbers);
    tail_.Reserve(numbers * 8);
  }
  // REQUIRES: there is room.
  void Put(uint64_t value) {
    if (value < kSplitLimit) {
      head_.PutByte(static_cast<uint8_t>(value));
      return;
    }
    value -= kSplitLimit;
    const auto count = static_cast<size_t>((71 - std::countl_zero(value | 1)) / 8);
    head_.PutByte(static_cast<uint8_t>(kSplitLimit - 1 + count));
    tail_.PutLittle(value, count);
  }
  ColumnWriter& head() { return head_; }
  ColumnWriter& tail() { return tail_; }

 private:
  ColumnWriter head_;
  ColumnWriter tail_;
};

class SplitReader {
 public:
  SplitReader() = default;
  SplitReader(const ColumnReader& head, const ColumnReader& tail) : head_(head), tail_(tail) {}
  uint64_t Number() {
    const uint8_t byte = head_.Byte();
    if (byte < kSplitLimit) return byte;
    return kSplitLimit + tail_.Little(byte - kSplitLimit + 1);
  }
  bool ok() const { return head_.ok() && tail_.ok(); }
  bool done() const { return head_.done() && tail_.done(); }

 private:
  ColumnReader head_;
  ColumnReader tail_;
};

}  // namespace heapgauge::trace
