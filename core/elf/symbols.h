// The symbols of an ELF file, one by one, and their names by address.
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "core/elf/elf_file.h"

namespace heapgauge {

// The symbols of an ELF file, as they stand in one of its tables.
//
// The file is treated as hostile: what lies outside of it is left out. No allocation but for what
// ElfFile loads.

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

// Names of functions, or of variables, by address from .symtab, or .dynsym where that is all there
// is.
//
// Built once for a module, then read-only; lookups are a binary search.
class SymbolTable {
 public:
  enum class Of : uint8_t { kFunctions, kVariables };
  explicit SymbolTable(Of of = Of::kFunctions) : of_(of) {}

  // Adds the symbols of .symtab, or else of .dynsym. May be called for a module and its debug
  // file.
  void AddFrom(ElfFile* elf);
  // Call after the last AddFrom.
  void Finish();

  bool empty() const { return symbols_.empty(); }
  // Whether there was a .symtab, which knows static functions too.
  bool complete() const { return complete_; }
  // The linker's name of what is at that address in the ELF file; null if there is nothing.
  const char* Find(uint64_t address) const {
    uint64_t offset = 0;
    return Find(address, &offset);
  }
  // The same, and how far from its start.
  const char* Find(uint64_t address, uint64_t* offset) const;

 private:
  struct Symbol {
    uint64_t start;
    uint64_t end;
    uint32_t rank;     // among several at one address, the smallest is shown
    const char* name;  // in the ELF file's string table, which outlives the SymbolTable
  };
  bool Wants(int type) const;

  Of of_;
  std::vector<Symbol> symbols_;
  bool complete_ = false;
};

}  // namespace heapgauge
