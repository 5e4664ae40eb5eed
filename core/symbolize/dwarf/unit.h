// Units of .debug_info, and the sections that their values point into.
//
// A DwarfFile is a set of sections with an index of its units. Of each unit the header and the
// first entry are read: where its code is, where its lines are, what its indexes count from. The
// contents of a unit are read by UnitWalk, and only if an address of interest lies in it.
//
// Immutable once made, so threads may share it. The sections' bytes must outlive it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/elf/byte_reader.h"
#include "core/elf/elf_file.h"
#include "core/os/file_stamp.h"
#include "core/symbolize/dwarf/attributes.h"

namespace heapgauge::dwarf {

struct Sections {
  Bytes info;
  Bytes abbrev;
  Bytes line;
  Bytes line_str;
  Bytes str;
  Bytes str_offsets;
  Bytes addr;
  Bytes ranges;
  Bytes rnglists;
};

struct CodeRange {
  uint64_t low;
  uint64_t high;
};

class DwarfFile;

struct Unit {
  const DwarfFile* file = nullptr;
  UnitFormat format;
  uint8_t type = 0;  // DW_UT_*
  uint64_t offset = 0;
  uint64_t end = 0;
  uint64_t first_entry = 0;
  uint64_t abbrev_offset = 0;
  uint64_t str_offsets_base = 0;
  uint64_t addr_base = 0;
  uint64_t rnglists_base = 0;
  uint64_t ranges_base = 0;  // of split DWARF 4
  uint64_t low_pc = 0;
  uint64_t dwo_id = 0;
  uint32_t tag = 0;
  uint32_t language = 0;  // DW_LANG_*
  std::optional<uint64_t> line_offset;
  FormValue low;
  FormValue high;
  FormValue ranges;
  std::string_view directory;
  std::string_view dwo_name;  // not empty: the contents are in a file of that name

  std::string_view Text(const FormValue& value) const;
  std::optional<uint64_t> Address(const FormValue& value) const;
  // Appends the ranges that the attributes low_pc, high_pc and ranges describe. At most
  // `*budget` ranges are read, and subtracted from it.
  void AppendRanges(const FormValue& low, const FormValue& high, const FormValue& ranges,
                    int64_t* budget, std::vector<CodeRange>* out) const;

 private:
  void AppendOldRanges(uint64_t offset, int64_t* budget, std::vector<CodeRange>* out) const;
  void AppendRangeList(uint64_t offset, int64_t* budget, std::vector<CodeRange>* out) const;
};

class DwarfFile {
 public:
  // `alt` is the dwz file that this one refers to, or null. `split` tells that the sections are
  // those of a .dwo file.
  DwarfFile(const Sections& sections, const DwarfFile* alt, bool split);
  DwarfFile(const DwarfFile&) = delete;
  DwarfFile& operator=(const DwarfFile&) = delete;

  const Sections& sections() const { return sections_; }
  const DwarfFile* alt() const { return alt_; }
  const std::vector<Unit>& units() const { return units_; }
  // The unit that holds this offset of .debug_info, or null.
  const Unit* UnitAt(uint64_t offset) const;
  // For a split unit: what its skeleton knows.
  void AdoptSkeleton(const Unit& skeleton);

 private:
  bool ReadUnit(ByteReader* reader, Unit* unit) const;
  // Returns the bytes of abbreviations that were looked through.
  uint64_t ReadFirstEntry(Unit* unit) const;

  Sections sections_;
  const DwarfFile* alt_;
  bool split_;
  std::vector<Unit> units_;
};

struct SplitUnit {
  std::unique_ptr<ElfFile> elf;  // null if the contents are in the .dwp
  std::unique_ptr<DwarfFile> file;
  const Unit* unit = nullptr;
};

// Split DWARF: the contents of a unit in a file of its own (.dwo), or in one file with all of them
// (.dwp) beside the program.
//
// A file is used only if it has the unit's number (dwo_id). Open() may be called by several
// threads; what it returns belongs to the caller.
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
