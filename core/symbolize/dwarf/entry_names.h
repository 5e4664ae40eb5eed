// Names of functions by reference to their entry, each resolved once.
//
// Owned by one thread. Names point into the sections.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/base/pointer_map.h"
#include "core/symbolize/dwarf/abbrev.h"
#include "core/symbolize/dwarf/unit.h"

namespace heapgauge::dwarf {

// An entry: `offset` of .debug_info, in `unit`; null if there is none.
struct Place {
  const Unit* unit = nullptr;
  uint64_t offset = 0;
};

// What a reference in `unit` refers to.
Place Follow(const Unit& unit, const Value& reference);

struct EntryName {
  std::string_view name;  // the linkage name, else the plain one; "" if there is none
  bool is_linkage = false;
  bool is_external = false;  // other units may call it by that name
  bool is_scoped = false;    // ScopedNames has seen it
  uint32_t line = 0;         // of the declaration; only of a plain name
  Place declaration;         // the entry that has the plain name
  std::string_view scoped;   // the plain name with scope and parameters; see ScopedNames
};

class EntryNames {
 public:
  explicit EntryNames(AbbrevCache* abbrevs) : abbrevs_(abbrevs) {}

  // Stays where it is.
  EntryName* Get(const Unit& unit, const Value& reference);
  EntryName Resolve(Place place) const;

 private:
  AbbrevCache* abbrevs_;
  EntryName none_;
  PointerMap<EntryName> known_;  // by the entry's own bytes
};

}  // namespace heapgauge::dwarf
