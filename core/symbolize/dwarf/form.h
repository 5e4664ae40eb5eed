// Attribute values of DWARF 2 to 5, with the GNU extensions for split DWARF and dwz.
//
// A value is read without being resolved: whether a string is inline or an index, say, is kept, and
// unit.h knows how to follow it. Pure functions, no allocation.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/elf/byte_reader.h"

namespace heapgauge::dwarf {

// Sizes that a unit's header fixes for all values in it.
struct UnitFormat {
  uint16_t version = 0;
  uint8_t address_size = 8;
  uint8_t offset_size = 4;
  bool operator==(const UnitFormat&) const = default;
};

enum class ValueKind : uint8_t {
  kNone,
  kAddress,
  kAddressIndex,
  kConstant,
  kOffset,      // into the section that the attribute implies
  kRangeIndex,  // into the offsets of .debug_rnglists
  kReference,   // into the unit
  kGlobalReference,
  kAltReference,  // into .debug_info of the dwz file
  kText,          // in .debug_info itself
  kTextOffset,    // into .debug_str
  kLineTextOffset,
  kTextIndex,      // into .debug_str_offsets
  kAltTextOffset,  // into .debug_str of the dwz file
  kOther,          // nothing that names or lines need
};

struct Value {
  ValueKind kind = ValueKind::kNone;
  uint64_t number = 0;
  std::string_view text;  // of kText
  explicit operator bool() const { return kind != ValueKind::kNone; }
};

// Reads one value. An unknown form fails the reader: nothing behind it can be found.
Value ReadValue(ByteReader* reader, uint64_t form, int64_t implicit, const UnitFormat& format);

// The size of a form if all its values have the same, or -1.
int FixedSize(uint64_t form, const UnitFormat& format);

}  // namespace heapgauge::dwarf
