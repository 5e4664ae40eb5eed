// The symbols of one module: its file, its debug file if there is a separate one, and answers for a
// batch of addresses.
//
// Owned by one thread. Answers point into the ModuleSymbols.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/elf/elf_file.h"
#include "core/elf/symbol_table.h"
#include "core/model/types.h"
#include "core/os/file_stamp.h"
#include "core/symbolize/dwarf_lookup.h"
#include "core/symbolize/symbolize_options.h"

namespace heapgauge {

class ModuleSymbols {
 public:
  // Opens the first file that is the module's. Fails if there is none, or only other builds of it.
  // `stamps` learns every place that was looked at, and must outlive the object.
  static Result<std::unique_ptr<ModuleSymbols>> Open(const Module& module,
                                                     const SymbolizeOptions& options,
                                                     StampList* stamps);

  // Frames for each address, innermost first; empty where nothing is known. REQUIRES: `addresses`
  // is sorted, without repeats, in terms of the ELF file.
  FrameLists LookUp(const std::vector<uint64_t>& addresses);

  bool has_dwarf() const { return dwarf_ != nullptr; }
  bool has_symtab() const { return table_.complete(); }
  // Whether debug information was left out because a section is too large to read.
  bool has_too_large() const {
    return file_->has_too_large() || (debug_file_ != nullptr && debug_file_->has_too_large()) ||
           (alt_file_ != nullptr && alt_file_->has_too_large());
  }
  size_t missing_split_units() const {
    return dwarf_ == nullptr ? 0 : dwarf_->missing_split_units();
  }

 private:
  std::unique_ptr<ElfFile> file_;
  std::unique_ptr<ElfFile> debug_file_;  // null if there is none or it is not needed
  std::unique_ptr<ElfFile> mini_;        // MiniDebugInfo
  std::unique_ptr<ElfFile> alt_file_;    // of dwz
  std::unique_ptr<DwarfLookup> dwarf_;
  SymbolTable table_;
};

}  // namespace heapgauge
