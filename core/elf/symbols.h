// The symbols of an ELF file, as they stand in one of its tables.
//
// The file is treated as hostile: what lies outside of it is left out. No allocation but for what
// ElfFile loads.
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstring>

#include "core/elf/elf_file.h"

namespace heapgauge {

// The table that knows most: .symtab, or .dynsym where that is all there is; null if there is none.
inline const ElfFile::SectionHeader* SymbolSection(const ElfFile& elf) {
  const ElfFile::SectionHeader* full = elf.FindType(SHT_SYMTAB);
  return full != nullptr ? full : elf.FindType(SHT_DYNSYM);
}

// Calls visit(number, const Elf64_Sym&, name) for each. The name is in the file's memory and ends
// with a zero; it is null if the file has none there. `table` may be null.
template <typename Visit>
void VisitSymbols(ElfFile* elf, const ElfFile::SectionHeader* table, const Visit& visit) {
  if (table == nullptr || table->link >= elf->sections().size()) return;
  const Bytes symbols = elf->Contents(*table);
  const Bytes names = elf->Contents(elf->sections()[table->link]);
  const size_t named = names.empty() || names.back() != 0 ? 0 : names.size();
  const size_t count = symbols.size() / sizeof(Elf64_Sym);
  for (size_t i = 0; i < count; ++i) {
    Elf64_Sym symbol;
    std::memcpy(&symbol, symbols.data() + i * sizeof symbol, sizeof symbol);
    const bool has_name = symbol.st_name < named;
    visit(i, symbol,
          has_name ? reinterpret_cast<const char*>(names.data()) + symbol.st_name : nullptr);
  }
}

}  // namespace heapgauge
