// Functions, inlined calls and source lines from DWARF, for many addresses at once.
//
// Each compilation unit that has an address of interest is walked once, and within it only
// functions that hold such an address; so the cost follows the code that appears in the profile,
// not the program's size. Units are found by their own ranges: .debug_aranges is not needed (clang
// does not write it). Units are shared out among threads.
//
// Names in the results point into the files' sections or into the DwarfLookup: both must live on.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/elf/elf_file.h"
#include "core/elf/symbols.h"
#include "core/os/file_stamp.h"
#include "core/symbolize/dwarf/unit.h"

namespace heapgauge {

namespace dwarf {
class UnitWalk;
}  // namespace dwarf

struct SourceFrame {
  std::string_view system_name;  // the linker's, or the plain name; "" unknown
  std::string_view file;
  uint32_t line = 0;
  bool inlined = false;
  // If not "": what to show instead of the system name, with scope and parameters, because DWARF
  // has only a plain name that overloads share. The line of the declaration tells the rest apart.
  std::string_view name = {};
  uint32_t declared_line = 0;
};
using FrameLists = std::vector<std::vector<SourceFrame>>;

class DwarfLookup {
 public:
  // `elf` has the DWARF sections, `alt` (may be null) is its dwz file. .dwo and .dwp files are
  // searched where the compiler put them, beside the program, and in `directories`; `stamps` learns
  // what was looked for. `symbols` tells code from the gaps between functions, in which nothing
  // need be searched for. All must outlive the object.
  DwarfLookup(ElfFile* elf, ElfFile* alt, std::vector<std::string> directories,
              const SymbolTable& symbols, StampList* stamps);
  ~DwarfLookup();

  // Frames for each address, innermost first; empty where DWARF knows nothing. REQUIRES:
  // `addresses` is sorted, without repeats, and in terms of the ELF file.
  FrameLists LookUp(const std::vector<uint64_t>& addresses);

  // Units that hold an address asked for, whose .dwo file was not found.
  size_t missing_split_units() const { return missing_split_units_; }

 private:
  struct Worker;
  struct Job {
    const dwarf::Unit* unit;
    std::vector<size_t> indexes;  // of addresses, ascending
  };
  std::vector<Job> AssignUnits(const std::vector<uint64_t>& addresses) const;
  // Of each node of the walk, into worker->node_names.
  static void NameNodes(const dwarf::Unit& unit, const dwarf::UnitWalk& walk, Worker* worker);
  void RunJob(const Job& job, const std::vector<uint64_t>& addresses, Worker* worker,
              FrameLists* results) const;

  uint64_t lowest_code_;
  const SymbolTable& symbols_;
  std::unique_ptr<dwarf::DwarfFile> alt_;
  std::unique_ptr<dwarf::DwarfFile> main_;
  std::unique_ptr<dwarf::SplitFiles> split_;
  std::vector<std::unique_ptr<Worker>> workers_;  // own texts of results
  size_t missing_split_units_ = 0;
};

}  // namespace heapgauge
