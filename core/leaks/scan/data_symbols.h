// Names of global variables by address, for roots that lie in the data of a program or a library:
// "cache in /usr/bin/server" says more than an address.
//
// Files are opened when they are first asked for, and kept. Owned by one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/elf/elf_file.h"
#include "core/elf/symbols.h"
#include "core/leaks/scan/memory_image.h"
#include "core/os/file_stamp.h"
#include "core/symbolize/symbolizer.h"

namespace heapgauge::leaks {

class DataSymbols {
 public:
  // `roots` and what `options` points to must outlive it.
  DataSymbols(const Roots& roots, const SymbolizeOptions& options);
  ~DataSymbols();
  DataSymbols(const DataSymbols&) = delete;
  DataSymbols& operator=(const DataSymbols&) = delete;

  // "name" or "name+0x10", demangled, of the variable at an address in memory; "" if none is known.
  // `object` is an index in Roots::objects.
  std::string Name(uint32_t object, uint64_t address);

 private:
  struct File {
    bool opened = false;
    std::unique_ptr<ElfFile> elf;
    std::unique_ptr<ElfFile> debug;
    SymbolTable table{SymbolTable::Of::kVariables};
  };
  void Open(const std::string& path, File* file);

  const Roots& roots_;
  SymbolizeOptions options_;
  StampList stamps_;
  std::vector<File> files_;  // of each object
};

}  // namespace heapgauge::leaks
