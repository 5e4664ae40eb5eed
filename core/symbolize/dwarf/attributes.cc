#include "core/symbolize/dwarf/attributes.h"

#include <dwarf.h>

namespace heapgauge::dwarf {

int FixedSize(uint64_t form, const UnitFormat& format) {
  switch (form) {
    case DW_FORM_addr:
      return format.address_size;
    case DW_FORM_implicit_const:
    case DW_FORM_flag_present:
      return 0;
    case DW_FORM_data1:
    case DW_FORM_ref1:
    case DW_FORM_flag:
    case DW_FORM_strx1:
    case DW_FORM_addrx1:
      return 1;
    case DW_FORM_data2:
    case DW_FORM_ref2:
    case DW_FORM_strx2:
    case DW_FORM_addrx2:
      return 2;
    case DW_FORM_strx3:
    case DW_FORM_addrx3:
      return 3;
    case DW_FORM_data4:
    case DW_FORM_ref4:
    case DW_FORM_strx4:
    case DW_FORM_addrx4:
    case DW_FORM_ref_sup4:
      return 4;
    case DW_FORM_data8:
    case DW_FORM_ref8:
    case DW_FORM_ref_sig8:
    case DW_FORM_ref_sup8:
      return 8;
    case DW_FORM_data16:
      return 16;
    case DW_FORM_ref_addr:
      return format.version <= 2 ? format.address_size : format.offset_size;
    case DW_FORM_strp:
    case DW_FORM_line_strp:
    case DW_FORM_strp_sup:
    case DW_FORM_sec_offset:
    case DW_FORM_GNU_ref_alt:
    case DW_FORM_GNU_strp_alt:
      return format.offset_size;
    default:
      return -1;
  }
}

FormValue ReadValue(ByteReader* reader, uint64_t form, int64_t implicit, const UnitFormat& format) {
  using enum ValueKind;
  const auto fixed = [&](ValueKind kind, unsigned size) {
    return FormValue{kind, reader->Unsigned(size), {}};
  };
  const auto skip = [&](uint64_t size) {
    reader->Skip(size);
    return FormValue{kOther, 0, {}};
  };
  // Indirect forms could be nested without end.
  for (int depth = 0; form == DW_FORM_indirect; ++depth) {
    if (depth == 4) reader->Fail();
    if (reader->failed()) return {};
    form = reader->Uleb();
  }
  switch (form) {
    case DW_FORM_addr:
      return fixed(kAddress, format.address_size);
    case DW_FORM_data1:
      return fixed(kConstant, 1);
    case DW_FORM_data2:
      return fixed(kConstant, 2);
    case DW_FORM_data4:
      // Before DWARF 4 these were offsets into sections too.
      return fixed(format.version < 4 ? kOffset : kConstant, 4);
    case DW_FORM_data8:
      return fixed(format.version < 4 ? kOffset : kConstant, 8);
    case DW_FORM_udata:
      return {kConstant, reader->Uleb(), {}};
    case DW_FORM_sdata:
      return {kConstant, static_cast<uint64_t>(reader->Sleb()), {}};
    case DW_FORM_implicit_const:
      return {kConstant, static_cast<uint64_t>(implicit), {}};
    case DW_FORM_flag:
      return fixed(kConstant, 1);
    case DW_FORM_flag_present:
      return {kConstant, 1, {}};
    case DW_FORM_data16:
      return skip(16);
    case DW_FORM_string:
      return {kText, 0, reader->CString()};
    case DW_FORM_strp:
      return fixed(kTextOffset, format.offset_size);
    case DW_FORM_line_strp:
      return fixed(kLineTextOffset, format.offset_size);
    case DW_FORM_strx:
    case DW_FORM_GNU_str_index:
      return {kTextIndex, reader->Uleb(), {}};
    case DW_FORM_strx1:
      return fixed(kTextIndex, 1);
    case DW_FORM_strx2:
      return fixed(kTextIndex, 2);
    case DW_FORM_strx3:
      return {kTextIndex, reader->U24(), {}};
    case DW_FORM_strx4:
      return fixed(kTextIndex, 4);
    case DW_FORM_strp_sup:
    case DW_FORM_GNU_strp_alt:
      return fixed(kAltTextOffset, format.offset_size);
    case DW_FORM_addrx:
    case DW_FORM_GNU_addr_index:
      return {kAddressIndex, reader->Uleb(), {}};
    case DW_FORM_addrx1:
      return fixed(kAddressIndex, 1);
    case DW_FORM_addrx2:
      return fixed(kAddressIndex, 2);
    case DW_FORM_addrx3:
      return {kAddressIndex, reader->U24(), {}};
    case DW_FORM_addrx4:
      return fixed(kAddressIndex, 4);
    case DW_FORM_sec_offset:
      return fixed(kOffset, format.offset_size);
    case DW_FORM_rnglistx:
      return {kRangeIndex, reader->Uleb(), {}};
    case DW_FORM_loclistx:
      reader->SkipLeb();
      return {kOther, 0, {}};
    case DW_FORM_ref1:
      return fixed(kReference, 1);
    case DW_FORM_ref2:
      return fixed(kReference, 2);
    case DW_FORM_ref4:
      return fixed(kReference, 4);
    case DW_FORM_ref8:
      return fixed(kReference, 8);
    case DW_FORM_ref_udata:
      return {kReference, reader->Uleb(), {}};
    case DW_FORM_ref_addr:
      return fixed(kGlobalReference,
                   format.version <= 2 ? format.address_size : format.offset_size);
    case DW_FORM_GNU_ref_alt:
      return fixed(kAltReference, format.offset_size);
    case DW_FORM_ref_sup4:
      return fixed(kAltReference, 4);
    case DW_FORM_ref_sup8:
      return fixed(kAltReference, 8);
    case DW_FORM_ref_sig8:
      return skip(8);
    case DW_FORM_block1:
      return skip(reader->U8());
    case DW_FORM_block2:
      return skip(reader->U16());
    case DW_FORM_block4:
      return skip(reader->U32());
    case DW_FORM_block:
    case DW_FORM_exprloc:
      return skip(reader->Uleb());
    default:
      reader->Fail();
      return {};
  }
}

AbbrevTable::AbbrevTable(Bytes section, uint64_t offset, const UnitFormat& format, uint64_t only)
    : format_(format) {
  ByteReader reader(section, offset);
  if (only == 0) {  // what one unit of C++ has
    abbrevs_.reserve(512);
    attributes_.reserve(4096);
    steps_.reserve(1024);
  }
  while (!reader.at_end()) {
    const uint64_t code = reader.Uleb();
    if (code == 0) break;
    Abbrev abbrev;
    abbrev.tag = static_cast<uint32_t>(reader.Uleb());
    abbrev.has_children = reader.U8() != 0;
    abbrev.first_attribute = static_cast<uint32_t>(attributes_.size());
    while (!reader.at_end()) {
      const uint64_t name = reader.Uleb();
      const uint64_t form = reader.Uleb();
      const int64_t implicit = form == DW_FORM_implicit_const ? reader.Sleb() : 0;
      if (name == 0 && form == 0) break;
      attributes_.push_back({static_cast<uint32_t>(name), static_cast<uint32_t>(form), implicit});
    }
    if (reader.failed()) break;
    abbrev.attribute_count = static_cast<uint32_t>(attributes_.size()) - abbrev.first_attribute;
    Compile(&abbrev);
    const uint32_t index = static_cast<uint32_t>(abbrevs_.size());
    if (dense_ == index && code == index + 1) {
      ++dense_;
    } else {
      sparse_.emplace(code, index);
    }
    abbrevs_.push_back(abbrev);
    if (code == only) break;
  }
}

void AbbrevTable::Compile(Abbrev* abbrev) {
  abbrev->first_step = static_cast<uint32_t>(steps_.size());
  uint32_t pending = 0;
  for (uint32_t i = 0; i < abbrev->attribute_count; ++i) {
    const AttributeSpec& spec = attributes_[abbrev->first_attribute + i];
    if (spec.name == DW_AT_low_pc || spec.name == DW_AT_ranges) abbrev->has_code = true;
    const int size = FixedSize(spec.form, format_);
    if (size < 0) {
      if (pending != 0) steps_.push_back({0, pending});
      pending = 0;
      steps_.push_back({spec.form, 0});
      continue;
    }
    const bool at_front = steps_.size() == abbrev->first_step && pending < 0x8000;
    if (spec.name == DW_AT_sibling && at_front &&
        (spec.form == DW_FORM_ref4 || spec.form == DW_FORM_ref8 || spec.form == DW_FORM_ref2 ||
         spec.form == DW_FORM_ref1)) {
      abbrev->sibling_at = static_cast<uint16_t>(pending);
      abbrev->sibling_size = static_cast<int8_t>(size);
    }
    pending += static_cast<uint32_t>(size);
  }
  const bool fixed = steps_.size() == abbrev->first_step;
  if (fixed && pending <= 0x7fffffff) abbrev->fixed_bytes = static_cast<int32_t>(pending);
  if (pending != 0) steps_.push_back({0, pending});
  abbrev->step_count = static_cast<uint32_t>(steps_.size()) - abbrev->first_step;
}

void AbbrevTable::SkipSteps(const Abbrev& abbrev, ByteReader* reader) const {
  const SkipStep* step = steps_.data() + abbrev.first_step;
  for (const SkipStep* end = step + abbrev.step_count; step != end; ++step) {
    switch (step->form) {
      case 0:
        reader->Skip(step->bytes);
        break;
      case DW_FORM_exprloc:
      case DW_FORM_block:
        reader->Skip(reader->Uleb());
        break;
      case DW_FORM_udata:
      case DW_FORM_sdata:
      case DW_FORM_strx:
      case DW_FORM_addrx:
      case DW_FORM_ref_udata:
        reader->SkipLeb();
        break;
      default:
        ReadValue(reader, step->form, 0, format_);
    }
  }
}

const AbbrevTable& AbbrevCache::Get(Bytes section, uint64_t offset, const UnitFormat& format) {
  // Most questions are about the unit of the last one.
  if (last_.table != nullptr && last_offset_ == offset && last_.section == section.data() &&
      last_.table->format() == format) {
    return *last_.table;
  }
  last_offset_ = offset;
  const auto [first, last] = tables_.equal_range(offset);
  for (auto it = first; it != last; ++it) {
    const Entry& entry = it->second;
    if (entry.section == section.data() && entry.table->format() == format) {
      last_ = {entry.section, entry.table.get()};
      return *last_.table;
    }
  }
  auto table = std::make_unique<AbbrevTable>(section, offset, format);
  last_ = {section.data(), table.get()};
  tables_.emplace(offset, Entry{section.data(), std::move(table)});
  return *last_.table;
}

}  // namespace heapgauge::dwarf
