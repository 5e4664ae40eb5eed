#include "core/symbolize/dwarf/split.h"

#include <dwarf.h>

#include "core/base/text.h"

namespace heapgauge::dwarf {
namespace {

Sections SplitSections(ElfFile* elf) {
  Sections sections;
  sections.info = elf->Section(".debug_info.dwo");
  sections.abbrev = elf->Section(".debug_abbrev.dwo");
  sections.str = elf->Section(".debug_str.dwo");
  sections.str_offsets = elf->Section(".debug_str_offsets.dwo");
  sections.rnglists = elf->Section(".debug_rnglists.dwo");
  return sections;
}

// Columns of a package's index.
enum Column : uint32_t { kInfo = 1, kAbbrev = 3, kStrOffsets = 6, kRnglists = 8 };

}  // namespace

SplitFiles::SplitFiles(const std::string& program, std::vector<std::string> directories,
                       const Sections& main, StampList* stamps)
    : directory_(program.substr(0, program.rfind('/') + 1)),
      directories_(std::move(directories)),
      main_(main),
      stamps_(stamps) {
  std::vector<std::string> candidates = {program + ".dwp"};
  // "server.debug" may have its package as "server.dwp".
  const size_t dot = program.rfind(".debug");
  if (dot != std::string::npos && dot + 6 == program.size()) {
    candidates.push_back(program.substr(0, dot) + ".dwp");
  }
  for (const std::string& directory : directories_) {
    candidates.push_back(directory + "/" + std::string(BaseName(program)) + ".dwp");
  }
  for (const std::string& path : candidates) {
    stamps_->Add(path);
    auto package = ElfFile::Open(path);
    if (!package) continue;
    package_ = std::move(*package);
    package_sections_ = SplitSections(package_.get());
    package_index_ = package_->Section(".debug_cu_index");
    return;
  }
}

SplitUnit SplitFiles::Open(const Unit& skeleton) const {
  if (package_ != nullptr) {
    SplitUnit found = FromPackage(skeleton);
    if (found.unit != nullptr) return found;
  }
  const std::string name(skeleton.dwo_name);
  const std::string base(BaseName(name));
  std::vector<std::string> candidates;
  if (name.front() == '/') {
    candidates.push_back(name);
  } else {
    if (!skeleton.directory.empty()) {
      candidates.push_back(std::string(skeleton.directory) + "/" + name);
    }
    candidates.push_back(directory_ + name);
  }
  if (base != name) candidates.push_back(directory_ + base);
  for (const std::string& directory : directories_) candidates.push_back(directory + "/" + base);
  for (const std::string& path : candidates) {
    if (path.front() != '/') continue;  // would depend on where we were started
    stamps_->Add(path);
    auto elf = ElfFile::Open(path);
    if (!elf) continue;
    SplitUnit found = Adopt(SplitSections(elf->get()), skeleton);
    if (found.unit == nullptr) continue;
    found.elf = std::move(*elf);
    return found;
  }
  return {};
}

SplitUnit SplitFiles::Adopt(const Sections& split, const Unit& skeleton) const {
  Sections sections = split;
  // Addresses, lines and the range lists of DWARF 4 stay with the skeleton.
  sections.addr = main_.addr;
  sections.line = main_.line;
  sections.line_str = main_.line_str;
  sections.ranges = main_.ranges;
  SplitUnit found;
  found.file = std::make_unique<DwarfFile>(sections, nullptr, true);
  for (const Unit& unit : found.file->units()) {
    if (unit.tag == DW_TAG_compile_unit && unit.dwo_id == skeleton.dwo_id) found.unit = &unit;
  }
  found.file->AdoptSkeleton(skeleton);
  return found;
}

SplitUnit SplitFiles::FromPackage(const Unit& skeleton) const {
  ByteReader header(package_index_);
  const uint32_t version = header.U32() & 0xffff;
  const uint64_t columns = header.U32();
  const uint64_t units = header.U32();
  const uint64_t slots = header.U32();
  if (header.failed() || (version != 2 && version != 5) || columns > 16 || slots > 1u << 28) {
    return {};
  }
  const Bytes hashes = SliceOf(package_index_, 16, slots * 8);
  const Bytes indexes = SliceOf(package_index_, 16 + slots * 8, slots * 4);
  const Bytes table = SliceOf(package_index_, 16 + slots * 12);
  ByteReader hash(hashes);
  uint64_t row = 0;
  for (uint64_t slot = 0; slot < slots && !hash.at_end(); ++slot) {
    if (hash.U64() != skeleton.dwo_id) continue;
    row = ByteReader(indexes, slot * 4).U32();
    if (row != 0) break;
  }
  if (row == 0 || row > units) return {};
  // A row of column numbers, then offsets of each unit, then sizes of each unit.
  Sections sections = package_sections_;
  for (uint64_t column = 0; column < columns; ++column) {
    const uint32_t id = ByteReader(table, column * 4).U32();
    const uint64_t offset = ByteReader(table, (row * columns + column) * 4).U32();
    const uint64_t size = ByteReader(table, ((units + row) * columns + column) * 4).U32();
    if (id == kInfo) sections.info = SliceOf(sections.info, offset, size);
    if (id == kAbbrev) sections.abbrev = SliceOf(sections.abbrev, offset, size);
    if (id == kStrOffsets) sections.str_offsets = SliceOf(sections.str_offsets, offset, size);
    if (id == kRnglists && version == 5)
      sections.rnglists = SliceOf(sections.rnglists, offset, size);
  }
  return Adopt(sections, skeleton);
}

}  // namespace heapgauge::dwarf
