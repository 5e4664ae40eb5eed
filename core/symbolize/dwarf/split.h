// Split DWARF: the contents of a unit in a file of its own (.dwo), or in one file with all of them
// (.dwp) beside the program.
//
// A file is used only if it has the unit's number (dwo_id). Open() may be called by several
// threads; what it returns belongs to the caller.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/elf/elf_file.h"
#include "core/os/file_stamp.h"
#include "core/symbolize/dwarf/unit.h"

namespace heapgauge::dwarf {

struct SplitUnit {
  std::unique_ptr<ElfFile> elf;  // null if the contents are in the .dwp
  std::unique_ptr<DwarfFile> file;
  const Unit* unit = nullptr;
};

class SplitFiles {
 public:
  // `program` is the file with the skeletons; `directories` are searched after the place that the
  // compiler recorded. Both `stamps` and `main` must outlive the object.
  SplitFiles(const std::string& program, std::vector<std::string> directories, const Sections& main,
             StampList* stamps);

  // Nothing (a null unit) if there is no file with the contents of `skeleton`.
  SplitUnit Open(const Unit& skeleton) const;

 private:
  SplitUnit FromPackage(const Unit& skeleton) const;
  SplitUnit Adopt(const Sections& sections, const Unit& skeleton) const;

  std::string directory_;
  std::vector<std::string> directories_;
  const Sections& main_;
  StampList* stamps_;
  std::unique_ptr<ElfFile> package_;
  Sections package_sections_;
  Bytes package_index_;
};

}  // namespace heapgauge::dwarf
