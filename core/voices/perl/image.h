// One executable or library, with the names that the perl tools find for its addresses.
//
// The tools run addr2line for functions, inlined calls and lines, and nm for what addr2line does
// not know and to tell functions of equal names apart: nm's names carry the function's address. All
// quirks of that are kept, because they decide what a report shows:
//   - Code without symbols goes by the symbol before it.
//   - Inlined calls are seen only in files that have the symbol "_fini".
//   - If the function's name in nm begins with the name that addr2line gives, nm's is taken.
//   - Of a function without a linker name in DWARF (static ones of C++), addr2line knows the plain
//     name, and the linker's only after it was asked for an address of the function itself.
//
// Owned by one thread. Files are untrusted.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/elf/elf_file.h"
#include "core/model/types.h"
#include "core/symbolize/dwarf_lookup.h"
#include "core/symbolize/symbolizer.h"
#include "core/voices/perl/options.h"

namespace heapgauge::perl {

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

struct Symbol {
  std::string name;   // short
  std::string place;  // "file:line", "??:0", "?"
  std::string full;   // with parameters; nm's with the function's address behind it
};
// Of one address: the function first, then what was inlined into it, the innermost last.
using SymbolList = std::vector<Symbol>;

class Image {
 public:
  // Null if there is no such file.
  static std::unique_ptr<Image> Open(const Module& module, const Options& options,
                                     const SymbolizeOptions& symbolize);

  const std::string& path() const { return path_; }
  // How far addresses of code are from their place in the file.
  uint64_t code_offset() const { return code_offset_; }
  const NmTable& nm() const { return nm_; }

  // Symbols of sorted addresses in terms of the file, for keys that are shown where nothing is
  // known: `keys[i]` is the address in memory.
  std::vector<SymbolList> Map(const std::vector<uint64_t>& addresses,
                              const std::vector<uint64_t>& keys);

 private:
  Image(const Options& options, std::unique_ptr<ElfFile> file);

  // What addr2line remembers while it runs.
  using KnownNames = std::unordered_map<std::string, std::string>;
  SymbolList FromAddr2line(uint64_t address, const std::vector<SourceFrame>& frames,
                           KnownNames* known) const;
  std::string Place(std::string_view file, uint32_t line) const;
  const std::string& Short(const std::string& full);

  Options options_;
  std::string path_;
  uint64_t code_offset_ = 0;
  std::unique_ptr<ElfFile> file_;
  std::unique_ptr<ElfFile> debug_file_;
  std::unique_ptr<ElfFile> alt_file_;
  StampList stamps_;
  SymbolTable table_;
  std::unique_ptr<DwarfLookup> dwarf_;
  NmTable nm_;
  std::unique_ptr<NearestSymbols> nearest_;
  std::unordered_map<std::string, std::string> short_names_;
};

}  // namespace heapgauge::perl
