// The symbols of one module: its file, its debug file if there is a separate one, and answers for a
// batch of addresses. The seam where further sources of debug files can be added.
//
// Owned by one thread.
#ifndef HEAPGAUGE_CORE_SYMBOLIZE_MODULE_SYMBOLS_H_
#define HEAPGAUGE_CORE_SYMBOLIZE_MODULE_SYMBOLS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/model/types.h"
#include "core/symbolize/dwarf_lookup.h"
#include "core/symbolize/elf_file.h"
#include "core/symbolize/symbol_table.h"
#include "core/symbolize/symbolizer.h"

namespace heapgauge {

class ModuleSymbols {
 public:
  // Opens the first file that is the module's. Fails if there is none, or only other builds of it.
  static Result<ModuleSymbols> Open(const Module& module, const SymbolizeOptions& options);

  // Frames for each address, innermost first; empty where nothing is known. REQUIRES: `addresses`
  // is sorted, without repeats, in terms of the ELF file.
  std::vector<std::vector<SourceFrame>> LookUp(const std::vector<uint64_t>& addresses);

 private:
  std::unique_ptr<ElfFile> file_;
  std::unique_ptr<ElfFile> debug_file_;  // null if there is none or it is not needed
  SymbolTable table_;
};

}  // namespace heapgauge

#endif  // HEAPGAUGE_CORE_SYMBOLIZE_MODULE_SYMBOLS_H_
