#include "core/symbolize/dwarf/unit.h"

#include <dwarf.h>

#include <algorithm>

#include "core/base/text.h"
#include "core/symbolize/dwarf/attributes.h"

namespace heapgauge::dwarf {
namespace {

// Abbreviations looked through for first entries, in all. Real files need a few megabytes; only a
// file that was made to keep us busy reaches this.
constexpr uint64_t kMaxAbbrevWork = uint64_t{1} << 30;

uint64_t NumberAt(Bytes section, uint64_t offset, unsigned size, bool* ok) {
  ByteReader reader(section, offset);
  const uint64_t number = reader.Unsigned(size);
  *ok = !reader.failed();
  return number;
}

// base + index * size, if that does not overflow.
uint64_t IndexOffset(uint64_t base, uint64_t index, uint64_t size) {
  if (index > (~uint64_t{0} - base) / size) return ~uint64_t{0};
  return base + index * size;
}

}  // namespace

DwarfFile::DwarfFile(const Sections& sections, const DwarfFile* alt, bool split)
    : sections_(sections), alt_(alt), split_(split) {
  ByteReader reader(sections_.info);
  uint64_t work = 0;
  while (!reader.at_end() && work < kMaxAbbrevWork) {
    Unit unit;
    unit.file = this;
    if (!ReadUnit(&reader, &unit)) break;
    work += ReadFirstEntry(&unit);
    reader.Seek(unit.end);
    units_.push_back(unit);
  }
}

bool DwarfFile::ReadUnit(ByteReader* reader, Unit* unit) const {
  unit->offset = reader->offset();
  const uint64_t length = reader->InitialLength(&unit->format.offset_size);
  if (reader->failed() || length > reader->left()) return false;
  unit->end = reader->offset() + length;
  unit->format.version = reader->U16();
  const uint8_t offset_size = unit->format.offset_size;
  if (unit->format.version >= 5) {
    unit->type = reader->U8();
    unit->format.address_size = reader->U8();
    unit->abbrev_offset = reader->Unsigned(offset_size);
    if (unit->type == DW_UT_skeleton || unit->type == DW_UT_split_compile) {
      unit->dwo_id = reader->U64();
    } else if (unit->type == DW_UT_type || unit->type == DW_UT_split_type) {
      reader->U64();
      reader->Unsigned(offset_size);
    }
  } else {
    unit->type = DW_UT_compile;
    unit->abbrev_offset = reader->Unsigned(offset_size);
    unit->format.address_size = reader->U8();
  }
  unit->first_entry = reader->offset();
  if (reader->failed() || unit->first_entry > unit->end) return false;
  // A unit of a version from the future is left out by its empty contents, the next ones are not.
  if (unit->format.version < 2 || unit->format.version > 5 || unit->format.address_size != 8) {
    unit->first_entry = unit->end;
  }
  return true;
}

uint64_t DwarfFile::ReadFirstEntry(Unit* unit) const {
  ByteReader reader(SliceOf(sections_.info, 0, unit->end), unit->first_entry);
  if (reader.at_end()) return 0;
  const uint64_t code = reader.Uleb();
  const AbbrevTable table(sections_.abbrev, unit->abbrev_offset, unit->format, code);
  const Abbrev* abbrev = table.Find(code);
  if (abbrev == nullptr) return sections_.abbrev.size();
  unit->tag = abbrev->tag;
  // Split units leave the bases out: theirs is what follows the header of the contribution.
  const uint64_t header = unit->format.offset_size == 8 ? 16 : 8;
  if (unit->format.version >= 5) {
    unit->str_offsets_base = unit->addr_base = header;
    unit->rnglists_base = header + 4;
  }
  FormValue directory;
  FormValue dwo_name;
  const AttributeSpec* specs = table.attributes(*abbrev);
  for (uint32_t i = 0; i < abbrev->attribute_count && !reader.failed(); ++i) {
    const FormValue value = ReadValue(&reader, specs[i].form, specs[i].implicit, unit->format);
    switch (specs[i].name) {
      case DW_AT_low_pc:
        unit->low = value;
        break;
      case DW_AT_high_pc:
        unit->high = value;
        break;
      case DW_AT_ranges:
        unit->ranges = value;
        break;
      case DW_AT_stmt_list:
        unit->line_offset = value.number;
        break;
      case DW_AT_language:
        unit->language = static_cast<uint32_t>(value.number);
        break;
      case DW_AT_comp_dir:
        directory = value;
        break;
      case DW_AT_dwo_name:
      case DW_AT_GNU_dwo_name:
        dwo_name = value;
        break;
      case DW_AT_GNU_dwo_id:
        unit->dwo_id = value.number;
        break;
      case DW_AT_str_offsets_base:
        unit->str_offsets_base = value.number;
        break;
      case DW_AT_addr_base:
      case DW_AT_GNU_addr_base:
        unit->addr_base = value.number;
        break;
      case DW_AT_rnglists_base:
        unit->rnglists_base = value.number;
        break;
      case DW_AT_GNU_ranges_base:
        unit->ranges_base = value.number;
        break;
      default:
        break;
    }
  }
  if (reader.failed()) unit->first_entry = unit->end;
  unit->directory = unit->Text(directory);
  if (!split_) unit->dwo_name = unit->Text(dwo_name);
  unit->low_pc = unit->Address(unit->low).value_or(0);
  return 16 + abbrev->first_attribute * uint64_t{2};
}

void DwarfFile::AdoptSkeleton(const Unit& skeleton) {
  for (Unit& unit : units_) {
    unit.addr_base = skeleton.addr_base;
    unit.ranges_base = skeleton.ranges_base;
    unit.line_offset = skeleton.line_offset;
    unit.directory = skeleton.directory;
    unit.low_pc = skeleton.low_pc;
    unit.low = skeleton.low;
    unit.high = skeleton.high;
    unit.ranges = skeleton.ranges;
  }
}

const Unit* DwarfFile::UnitAt(uint64_t offset) const {
  const auto after =
      std::upper_bound(units_.begin(), units_.end(), offset,
                       [](uint64_t value, const Unit& unit) { return value < unit.offset; });
  if (after == units_.begin()) return nullptr;
  const Unit& unit = *(after - 1);
  return offset >= unit.first_entry && offset < unit.end ? &unit : nullptr;
}

std::string_view Unit::Text(const FormValue& value) const {
  const Sections& sections = file->sections();
  switch (value.kind) {
    case ValueKind::kText:
      return value.text;
    case ValueKind::kTextOffset:
      return TextAt(sections.str, value.number);
    case ValueKind::kLineTextOffset:
      return TextAt(sections.line_str, value.number);
    case ValueKind::kAltTextOffset:
      return file->alt() == nullptr ? std::string_view()
                                    : TextAt(file->alt()->sections().str, value.number);
    case ValueKind::kTextIndex: {
      bool ok = false;
      const uint64_t at = NumberAt(sections.str_offsets,
                                   IndexOffset(str_offsets_base, value.number, format.offset_size),
                                   format.offset_size, &ok);
      return ok ? TextAt(sections.str, at) : std::string_view();
    }
    default:
      return {};
  }
}

std::optional<uint64_t> Unit::Address(const FormValue& value) const {
  if (value.kind == ValueKind::kAddress) return value.number;
  if (value.kind != ValueKind::kAddressIndex) return std::nullopt;
  bool ok = false;
  const uint64_t address =
      NumberAt(file->sections().addr, IndexOffset(addr_base, value.number, format.address_size),
               format.address_size, &ok);
  return ok ? std::optional<uint64_t>(address) : std::nullopt;
}

void Unit::AppendRanges(const FormValue& low_value, const FormValue& high_value,
                        const FormValue& list, int64_t* budget, std::vector<CodeRange>* out) const {
  if (list) {
    if (list.kind == ValueKind::kRangeIndex) {
      bool ok = false;
      const uint64_t at = NumberAt(file->sections().rnglists,
                                   IndexOffset(rnglists_base, list.number, format.offset_size),
                                   format.offset_size, &ok);
      if (ok) AppendRangeList(rnglists_base + at, budget, out);
    } else if (format.version >= 5) {
      AppendRangeList(list.number, budget, out);
    } else {
      AppendOldRanges(list.number, budget, out);
    }
    return;
  }
  const std::optional<uint64_t> low_address = Address(low_value);
  if (!low_address || !high_value) return;
  --*budget;
  const std::optional<uint64_t> end_address = Address(high_value);
  const uint64_t end_of = end_address ? *end_address : *low_address + high_value.number;
  if (end_of > *low_address) out->push_back({*low_address, end_of});
}

void Unit::AppendOldRanges(uint64_t at, int64_t* budget, std::vector<CodeRange>* out) const {
  ByteReader reader(file->sections().ranges, at);
  uint64_t base = low_pc;
  while (!reader.at_end() && --*budget > 0) {
    const uint64_t first = reader.U64();
    const uint64_t second = reader.U64();
    if (reader.failed() || (first == 0 && second == 0)) return;
    if (first == ~uint64_t{0}) {
      base = second;
    } else if (first < second) {
      out->push_back({base + first, base + second});
    }
  }
}

void Unit::AppendRangeList(uint64_t at, int64_t* budget, std::vector<CodeRange>* out) const {
  ByteReader reader(file->sections().rnglists, at);
  uint64_t base = low_pc;
  const auto indexed = [&](uint64_t index) {
    return Address({ValueKind::kAddressIndex, index, {}}).value_or(0);
  };
  while (!reader.at_end() && --*budget > 0) {
    uint64_t first = 0;
    uint64_t last = 0;
    switch (reader.U8()) {
      case DW_RLE_base_addressx:
        base = indexed(reader.Uleb());
        continue;
      case DW_RLE_base_address:
        base = reader.U64();
        continue;
      case DW_RLE_startx_endx:
        first = indexed(reader.Uleb());
        last = indexed(reader.Uleb());
        break;
      case DW_RLE_startx_length:
        first = indexed(reader.Uleb());
        last = first + reader.Uleb();
        break;
      case DW_RLE_offset_pair:
        first = base + reader.Uleb();
        last = base + reader.Uleb();
        break;
      case DW_RLE_start_end:
        first = reader.U64();
        last = reader.U64();
        break;
      case DW_RLE_start_length:
        first = reader.U64();
        last = first + reader.Uleb();
        break;
      default:  // end of list, or damage
        return;
    }
    if (reader.failed()) return;
    if (first < last) out->push_back({first, last});
  }
}

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
