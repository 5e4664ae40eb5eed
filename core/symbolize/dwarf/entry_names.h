// Names of functions by reference to their entry, each resolved once.
//
// Owned by one thread. Names point into the sections.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/lookup_tables.h"
#include "core/symbolize/dwarf/attributes.h"
#include "core/symbolize/dwarf/unit.h"

namespace heapgauge::dwarf {

// An entry: `offset` of .debug_info, in `unit`; null if there is none.
struct Place {
  const Unit* unit = nullptr;
  uint64_t offset = 0;
};

// What a reference in `unit` refers to.
Place Follow(const Unit& unit, const FormValue& reference);

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
  EntryName* Get(const Unit& unit, const FormValue& reference);
  EntryName Resolve(Place place) const;

 private:
  AbbrevCache* abbrevs_;
  EntryName none_;
  PointerMap<EntryName> known_;  // by the entry's own bytes
};

// Names with namespace, class and parameters for functions that DWARF gives no linkage name: those
// of unnamed namespaces and static ones, as gcc writes them. By their plain names alone, overloads
// would be one function.
//
// Entries do not say what they are nested in, so a unit is walked once for all of its entries in
// question; subtrees without one are skipped by their sibling reference.
//
// Owned by one thread.
class ScopedNames {
 public:
  // Both must outlive the object.
  ScopedNames(AbbrevCache* abbrevs, const EntryNames* names) : abbrevs_(abbrevs), names_(names) {}

  // Sets `scoped` of each entry, as far as there is one. `*budget` bounds the work.
  void NameAll(std::vector<EntryName*> entries, int64_t* budget);

 private:
  struct Fields;
  void NameInUnit(const Unit& unit, EntryName** first, EntryName** last, int64_t* budget);
  std::string Scope(const Unit& unit, const std::vector<uint64_t>& scopes) const;
  std::string Parameters(const Unit& unit, ByteReader reader) const;
  std::string TypeName(const Unit& unit, FormValue type) const;
  Fields Read(const Unit& unit, const AbbrevTable& table, const Abbrev& abbrev,
              ByteReader* reader) const;

  AbbrevCache* abbrevs_;
  const EntryNames* names_;
  std::deque<std::string> texts_;
};

}  // namespace heapgauge::dwarf
