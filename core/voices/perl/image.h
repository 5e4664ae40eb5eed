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
#include <unordered_map>
#include <vector>

#include "core/elf/elf_file.h"
#include "core/model/types.h"
#include "core/symbolize/dwarf_lookup.h"
#include "core/symbolize/symbolizer.h"
#include "core/voices/perl/binutils_symbols.h"
#include "core/voices/perl/options.h"

namespace heapgauge::perl {

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
