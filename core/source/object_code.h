// The machine code of a profile's modules: their files, where they were loaded, the functions in
// them.
//
// Files are opened when they are first asked for. Owned by one thread; the profile must outlive it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/regex.h"
#include "core/base/result.h"
#include "core/elf/elf_file.h"
#include "core/model/profile.h"

namespace heapgauge {

// A tool is killed when it prints more or takes longer.
struct ToolLimits {
  size_t bytes = size_t{256} << 20;
  uint64_t seconds = 120;
};

// Runs a program and gives back what it prints. For tools that are on many machines but not on all,
// such as objdump: the caller must do without where there is none.
//
// Standard output of `arguments`, the first of which is a path or is looked for in $PATH. Standard
// input is empty, standard error is not shown. kNotFound if there is no such program; any other
// failure, also an exit status that is not 0, is kIo.
Result<std::string> RunTool(const std::vector<std::string>& arguments,
                            const ToolLimits& limits = {});

// Machine code as text, by objdump.
//
// PPROF_TOOLS may say where it is, as for pprof: a list, separated by commas, of directories and of
// "objdump:PATH". Otherwise it is the one in $PATH.
struct Instruction {
  uint64_t address = 0;  // in the ELF file
  std::string text;
  std::string function;  // "" unknown
  std::string file;      // "" unknown
  int64_t line = 0;      // 0 unknown
};

// The code from `start` up to and with the byte at `last`. The error says what to install where
// there is no objdump.
Result<std::vector<Instruction>> Disassemble(const std::string& file, uint64_t start, uint64_t last,
                                             bool intel_syntax);

// What objdump printed. Lines of no known form are left out. For tests.
std::vector<Instruction> ParseObjdump(std::string_view output);

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
