// Names for addresses of one module: from what was kept of earlier questions, the rest from the
// module's files.
//
// What was kept is of the very build that ran, whatever became of its file. So kept names that may
// be out of date (name_cache.h) are looked up again where the files can be read, and are the answer
// where they cannot, because the program was built again or is gone.
//
// Owned by one thread. Frames point into the answer.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/elf/elf_file.h"
#include "core/elf/symbols.h"
#include "core/model/types.h"
#include "core/os/file_stamp.h"
#include "core/symbolize/dwarf_lookup.h"
#include "core/symbolize/name_cache.h"
#include "core/symbolize/symbolize_options.h"

namespace heapgauge {

// The symbols of one module: its file, its debug file if there is a separate one, and answers for a
// batch of addresses.
//
// Owned by one thread. Answers point into the ModuleSymbols.
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

struct ModuleNames {
  CachedNames kept;
  StampList stamps;
  std::unique_ptr<ModuleSymbols> symbols;  // null if no file was needed, or none could be read
  FrameLists found;                        // by address that was asked for
  bool has_dwarf = false;
  bool has_symtab = false;
  // Why no file could be read for those that were not kept; "" if one could, or none was needed.
  std::string no_file_reason;
};

// REQUIRES: `addresses` is sorted, without repeats, in terms of the ELF file. Fails if there is no
// file and nothing was kept.
Status FindModuleNames(const Module& module, const SymbolizeOptions& options,
                       const std::vector<uint64_t>& addresses, ModuleNames* names);

}  // namespace heapgauge
