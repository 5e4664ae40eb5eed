// Names of functions, or of variables, by address from .symtab, or .dynsym where that is all there
// is.
//
// Built once for a module, then read-only; lookups are a binary search.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/elf/elf_file.h"

namespace heapgauge {

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
