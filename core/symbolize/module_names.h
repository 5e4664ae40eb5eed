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
#include "core/model/types.h"
#include "core/os/file_stamp.h"
#include "core/symbolize/module_symbols.h"
#include "core/symbolize/name_cache.h"
#include "core/symbolize/symbolize_options.h"

namespace heapgauge {

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
