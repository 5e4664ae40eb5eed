#include "core/symbolize/dwarf/abbrev.h"

#include <dwarf.h>

namespace heapgauge::dwarf {

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
