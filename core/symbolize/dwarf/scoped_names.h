// Names with namespace, class and parameters for functions that DWARF gives no linkage name: those
// of unnamed namespaces and static ones, as gcc writes them. By their plain names alone, overloads
// would be one function.
//
// Entries do not say what they are nested in, so a unit is walked once for all of its entries in
// question; subtrees without one are skipped by their sibling reference.
//
// Owned by one thread.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "core/symbolize/dwarf/entry_names.h"

namespace heapgauge::dwarf {

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
  std::string TypeName(const Unit& unit, Value type) const;
  Fields Read(const Unit& unit, const AbbrevTable& table, const Abbrev& abbrev,
              ByteReader* reader) const;

  AbbrevCache* abbrevs_;
  const EntryNames* names_;
  std::deque<std::string> texts_;
};

}  // namespace heapgauge::dwarf
