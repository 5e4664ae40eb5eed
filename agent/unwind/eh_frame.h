// The .eh_frame of a loaded object: the description of one function there (FindFrameDescription),
// and the bounded reader for such bytes (MappedByteReader). This is the only part that knows how
// these sections are laid out.
//
// No state; allocation-free, async-signal-safe, takes no lock.
#pragma once

#include <cstdint>
#include <cstring>

#include "agent/sys/loaded_object.h"

namespace heapgauge::agent {

// How a pointer is stored (DW_EH_PE_*).
namespace pointer_encoding {
inline constexpr uint8_t kAbsolute = 0x00;
inline constexpr uint8_t kUleb128 = 0x01;
inline constexpr uint8_t kUdata2 = 0x02;
inline constexpr uint8_t kUdata4 = 0x03;
inline constexpr uint8_t kUdata8 = 0x04;
inline constexpr uint8_t kSleb128 = 0x09;
inline constexpr uint8_t kSdata2 = 0x0a;
inline constexpr uint8_t kSdata4 = 0x0b;
inline constexpr uint8_t kSdata8 = 0x0c;
inline constexpr uint8_t kFormatMask = 0x0f;
inline constexpr uint8_t kPcRelative = 0x10;
inline constexpr uint8_t kDataRelative = 0x30;
inline constexpr uint8_t kBaseMask = 0x70;
inline constexpr uint8_t kIndirect = 0x80;
inline constexpr uint8_t kOmit = 0xff;
}  // namespace pointer_encoding

// A cursor over bytes of a loaded object (.eh_frame_hdr, .eh_frame, DWARF expressions) that cannot
// leave its bounds. The bytes come from the program's own files, but a damaged or hand-made section
// must end a walk, never the program.
//
// After a read past the end the reader is bad for good and every further read gives 0, so callers
// check once. Values only.
class MappedByteReader {
 public:
  MappedByteReader() = default;
  // Bytes at [begin, end).
  MappedByteReader(uintptr_t begin, uintptr_t end) : at_(begin), end_(end), ok_(begin <= end) {}

  bool ok() const { return ok_; }
  bool at_end() const { return !ok_ || at_ == end_; }
  uintptr_t at() const { return at_; }
  uintptr_t end() const { return end_; }
  uintptr_t left() const { return ok_ ? end_ - at_ : 0; }

  template <typename T>
  T Fixed() {
    T value = 0;
    if (left() < sizeof(T)) {
      ok_ = false;
      return value;
    }
    memcpy(&value, reinterpret_cast<const void*>(at_), sizeof(T));
    at_ += sizeof(T);
    return value;
  }

  uint64_t Uleb() {
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const uint8_t byte = Fixed<uint8_t>();
      if (shift < 64) value |= uint64_t{byte & 0x7fu} << shift;
      if (!(byte & 0x80)) return value;
    }
  }

  int64_t Sleb() {
    uint64_t value = 0;
    for (int shift = 0;;) {
      const uint8_t byte = Fixed<uint8_t>();
      if (shift < 64) value |= uint64_t{byte & 0x7fu} << shift;
      shift += 7;
      if (!(byte & 0x80)) {
        if (shift < 64 && (byte & 0x40)) value |= ~uint64_t{0} << shift;
        return static_cast<int64_t>(value);
      }
    }
  }

  void Skip(uint64_t bytes) {
    if (bytes > left()) {
      ok_ = false;
    } else {
      at_ += bytes;
    }
  }

  // The next `bytes` bytes as a reader of their own; this one moves past them.
  MappedByteReader Take(uint64_t bytes) {
    const uintptr_t begin = at_;
    Skip(bytes);
    return ok_ ? MappedByteReader(begin, at_) : Bad();
  }

  // A pointer in the given encoding. `data_base` is what data-relative ones count from. Indirect
  // and unknown encodings make the reader bad.
  uintptr_t Pointer(uint8_t encoding, uintptr_t data_base);

  static MappedByteReader Bad() {
    MappedByteReader bad;
    bad.ok_ = false;
    return bad;
  }

 private:
  uintptr_t at_ = 0;
  uintptr_t end_ = 0;
  bool ok_ = true;
};

inline uintptr_t MappedByteReader::Pointer(uint8_t encoding, uintptr_t data_base) {
  namespace pe = pointer_encoding;
  uintptr_t base = 0;
  switch (encoding & pe::kBaseMask) {
    case 0:
      break;
    case pe::kPcRelative:
      base = at_;
      break;
    case pe::kDataRelative:
      base = data_base;
      break;
    default:
      ok_ = false;
  }
  if (encoding & pe::kIndirect) ok_ = false;
  switch (encoding & pe::kFormatMask) {
    case pe::kAbsolute:
    case pe::kUdata8:
    case pe::kSdata8:
      return base + Fixed<uint64_t>();
    case pe::kUleb128:
      return base + Uleb();
    case pe::kUdata2:
      return base + Fixed<uint16_t>();
    case pe::kUdata4:
      return base + Fixed<uint32_t>();
    case pe::kSleb128:
      return base + static_cast<uintptr_t>(Sleb());
    case pe::kSdata2:
      return base + static_cast<uintptr_t>(int64_t{Fixed<int16_t>()});
    case pe::kSdata4:
      return base + static_cast<uintptr_t>(int64_t{Fixed<int32_t>()});
    default:
      ok_ = false;
      return 0;
  }
}

// The bytes from `address` to the end of the readable segment that contains it. Bad if there is
// none.
MappedByteReader SegmentFrom(const LoadedObject& object, uintptr_t address);

// The description of one function: the FDE with what matters from its CIE.
struct FrameDescription {
  uintptr_t begin = 0;  // of the code it describes
  uintptr_t end = 0;
  uint64_t code_alignment = 1;
  int64_t data_alignment = 1;
  uint64_t return_column = 0;
  bool signal_frame = false;
  MappedByteReader initial_program;  // of the CIE
  MappedByteReader program;          // of the FDE
};

// The description whose range contains `pc`. False if there is none or it is damaged.
//
// Normally a binary search in .eh_frame_hdr; an object whose header carries no table (or one in an
// encoding nobody uses) is scanned from front to back. Every read stays inside the loaded segment
// that holds the section.
bool FindFrameDescription(const LoadedObject& object, uintptr_t pc, FrameDescription* found);

}  // namespace heapgauge::agent
