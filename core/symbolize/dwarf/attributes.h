// Entries (DIEs) as they are encoded: the values of their attributes, and the shapes that
// abbreviations give them.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/elf/byte_reader.h"

namespace heapgauge::dwarf {

// Attribute values of DWARF 2 to 5, with the GNU extensions for split DWARF and dwz.
//
// A value is read without being resolved: whether a string is inline or an index, say, is kept, and
// unit.h knows how to follow it. Pure functions, no allocation.

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

struct FormValue {
  ValueKind kind = ValueKind::kNone;
  uint64_t number = 0;
  std::string_view text;  // of kText
  explicit operator bool() const { return kind != ValueKind::kNone; }
};

// Reads one value. An unknown form fails the reader: nothing behind it can be found.
FormValue ReadValue(ByteReader* reader, uint64_t form, int64_t implicit, const UnitFormat& format);

// The size of a form if all its values have the same, or -1.
int FixedSize(uint64_t form, const UnitFormat& format);

struct AttributeSpec {
  uint32_t name;
  uint32_t form;
  int64_t implicit;
};

struct SkipStep {
  uint32_t form;   // 0: a fixed number of bytes
  uint32_t bytes;  // of these
};

// Abbreviations: the shapes that the entries (DIEs) of a unit can have.
//
// Nearly all entries of a unit are of no interest for names and lines, so each shape is compiled
// into the fewest steps that skip an entry: neighbouring fields of fixed size become one step.
//
// Tables are immutable once parsed. An AbbrevCache belongs to one thread.
struct Abbrev {
  uint32_t tag = 0;
  bool has_children = false;
  bool has_code = false;     // says where its code is
  int8_t sibling_size = 0;   // of the reference to the next entry on the same level; 0 none
  uint16_t sibling_at = 0;   // where it is, from the first attribute on
  int32_t fixed_bytes = -1;  // if all entries of this shape have that size
  uint32_t first_attribute = 0;
  uint32_t attribute_count = 0;
  uint32_t first_step = 0;
  uint32_t step_count = 0;
};

class AbbrevTable {
 public:
  // Parses the table at `offset`; with `only` != 0, just up to the abbreviation of that code.
  AbbrevTable(Bytes section, uint64_t offset, const UnitFormat& format, uint64_t only = 0);

  // Null if there is none.
  const Abbrev* Find(uint64_t code) const {
    // Compilers number them from 1 on without gaps.
    if (code - 1 < dense_) return &abbrevs_[static_cast<size_t>(code - 1)];
    const auto it = sparse_.find(code);
    return it == sparse_.end() ? nullptr : &abbrevs_[it->second];
  }
  const AttributeSpec* attributes(const Abbrev& abbrev) const {
    return attributes_.data() + abbrev.first_attribute;
  }
  const UnitFormat& format() const { return format_; }

  // Moves past the attributes of an entry.
  void Skip(const Abbrev& abbrev, ByteReader* reader) const {
    if (abbrev.fixed_bytes >= 0) return reader->Skip(static_cast<uint64_t>(abbrev.fixed_bytes));
    SkipSteps(abbrev, reader);
  }

 private:
  void SkipSteps(const Abbrev& abbrev, ByteReader* reader) const;
  void Compile(Abbrev* abbrev);

  UnitFormat format_;
  size_t dense_ = 0;
  std::vector<Abbrev> abbrevs_;
  std::vector<AttributeSpec> attributes_;
  std::vector<SkipStep> steps_;
  std::unordered_map<uint64_t, uint32_t> sparse_;
};

class AbbrevCache {
 public:
  const AbbrevTable& Get(Bytes section, uint64_t offset, const UnitFormat& format);

 private:
  struct Entry {
    const uint8_t* section;
    std::unique_ptr<AbbrevTable> table;
  };
  struct Last {
    const uint8_t* section = nullptr;
    const AbbrevTable* table = nullptr;
  };
  std::unordered_multimap<uint64_t, Entry> tables_;  // by offset
  Last last_;
  uint64_t last_offset_ = 0;
};

}  // namespace heapgauge::dwarf
