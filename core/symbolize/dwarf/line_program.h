// Source lines of a unit: runs its line program once and keeps the rows that cover an address of
// interest.
//
// Owned by one thread. The sections' bytes must outlive the LineProgram.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/symbolize/dwarf/unit.h"

namespace heapgauge::dwarf {

struct LineRow {
  uint32_t file = 0;
  uint32_t line = 0;
  bool known = false;
};

class LineProgram {
 public:
  // Reads the header of the unit's program; there are no files and rows if it has none.
  explicit LineProgram(const Unit& unit);

  // Fills in a row for each address that the program covers. REQUIRES: `addresses` is sorted,
  // `rows` as long. Code below `lowest` was dropped by the linker.
  void Run(std::span<const uint64_t> addresses, uint64_t lowest, int64_t* budget, LineRow* rows);

  // Files are numbered below this.
  size_t file_count() const { return files_.size(); }
  // The path of a file of the program; "" if there is no such file.
  std::string FilePath(uint64_t file) const;

 private:
  struct FileEntry {
    std::string_view name;
    uint64_t directory;
  };
  void ReadOldTables(ByteReader* reader);
  void ReadTables(ByteReader* reader, bool files);

  const Unit& unit_;
  UnitFormat format_;
  Bytes program_;
  uint8_t minimum_instruction_ = 1;
  int8_t line_base_ = 0;
  uint8_t line_range_ = 1;
  uint8_t opcode_base_ = 1;
  std::vector<uint8_t> operand_counts_;
  std::vector<std::string_view> directories_;
  std::vector<FileEntry> files_;
};

}  // namespace heapgauge::dwarf
