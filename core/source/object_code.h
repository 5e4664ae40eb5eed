// The machine code of a profile's modules: their files, where they were loaded, the functions in
// them.
//
// Files are opened when they are first asked for. Owned by one thread; the profile must outlive it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/base/regex.h"
#include "core/base/result.h"
#include "core/elf/elf_file.h"
#include "core/model/profile.h"

namespace heapgauge {

// A function in an ELF file.
struct CodeSymbol {
  std::vector<std::string> names;  // what matched, or all names of that address
  uint64_t start = 0;
  uint64_t last = 0;  // its last byte
};

class ObjectCode {
 public:
  explicit ObjectCode(const Profile& profile) : profile_(profile) {}

  struct File {
    std::unique_ptr<ElfFile> elf;  // null if it cannot be read
    std::string error;             // then
    uint64_t bias = 0;             // address in memory minus address in the file
  };
  const File& Open(ModuleId module);

  // The functions whose name matches, mangled or demangled in any of pprof's ways, and the one at
  // `address` (in the file; 0 none), by address.
  static std::vector<CodeSymbol> FindSymbols(ElfFile* elf, const Regex& regex, uint64_t address);

 private:
  std::vector<uint64_t> AddressesIn(ModuleId module) const;

  const Profile& profile_;
  std::map<ModuleId, File> files_;
};

}  // namespace heapgauge
