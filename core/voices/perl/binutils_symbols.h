// The symbol table of an ELF file as two programs of the binutils read it, because the perl tools
// take their names from them.
//
//   NmTable         `nm -n`: all symbols, data too, each reaching to the next one
//   NearestSymbols  how addr2line names code that DWARF does not: the symbol before the address in
//                   the same section, however far
//
// Where there is no .symtab both go by .dynsym; nm shows versions ("malloc@@V1") then.
//
// Built once, then read-only. Names point into the ElfFile or the table.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/elf/elf_file.h"

namespace heapgauge::perl {

struct RawSymbol {
  std::string name;
  std::string version;  // "@@V1" of a dynamic one
  uint64_t value = 0;
  uint64_t size = 0;
  uint32_t section = 0;  // SHN_ABS and the like as they are
  uint8_t type = 0;
  uint8_t binding = 0;
  uint8_t visibility = 0;
};

// Symbols in the order of the file; undefined ones are left out. `dynamic` tells which table.
std::vector<RawSymbol> ReadSymbols(ElfFile* elf, bool dynamic);

class NmTable {
 public:
  struct Entry {
    uint64_t start = 0;
    uint64_t end = 0;
    std::string name;  // the linker's
    std::string version;
    bool tagged = true;            // the tools append the address to its name
    std::string FullName() const;  // readable, and "<address>"
  };

  explicit NmTable(ElfFile* elf);

  const std::vector<Entry>& entries() const { return entries_; }
  // The first entry that ends behind the address; null behind all of them.
  const Entry* Find(uint64_t address) const;
  // Whether there is a "_fini": without it the tools cannot ask for inlined calls.
  bool has_separator() const { return has_separator_; }

 private:
  std::vector<Entry> entries_;
  bool has_separator_ = false;
};

class NearestSymbols {
 public:
  struct Answer {
    const std::string* name = nullptr;  // null: none
    uint64_t start = 0;
    const std::string* file = nullptr;  // of the object file's FILE symbol; null: none
  };

  explicit NearestSymbols(ElfFile* elf);

  Answer Find(uint64_t address) const;
  // The shortest of the names that the code at `start` has; null: none. Assemblers write DWARF for
  // each alias of a function, and addr2line shows the last, which is the one for the public.
  const std::string* ShortestAlias(uint64_t start) const;

 private:
  struct Symbol {
    uint32_t section = 0;
    uint64_t start = 0;
    uint32_t order = 0;
    uint64_t size = 0;
    bool is_function = false;
    bool is_typed = false;
    uint32_t name = 0;
    uint32_t file = 0;  // in names_; 0 none
  };
  uint32_t SectionOf(uint64_t address) const;
  static bool Better(const Symbol& now, const Symbol& next, uint64_t address);

  struct Section {
    uint64_t start = 0;
    uint64_t end = 0;
    uint32_t index = 0;
  };
  std::vector<Section> sections_;
  std::vector<std::string> names_;
  std::vector<Symbol> symbols_;  // by section, start, order
};

}  // namespace heapgauge::perl
