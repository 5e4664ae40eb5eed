#include "core/symbolize/dwarf/entry_names.h"

#include <dwarf.h>

namespace heapgauge::dwarf {
namespace {

constexpr int kMaxHops = 16;  // from an inlined call to the declaration that has the name

}  // namespace

Place Follow(const Unit& unit, const Value& reference) {
  const DwarfFile* file = unit.file;
  const uint64_t offset = reference.number;
  switch (reference.kind) {
    case ValueKind::kReference:
      if (offset >= unit.end - unit.offset) return {};
      return {&unit, unit.offset + offset};
    case ValueKind::kGlobalReference:
      break;
    case ValueKind::kAltReference:
      file = file->alt();
      break;
    default:
      return {};
  }
  if (file == nullptr) return {};
  return {file->UnitAt(offset), offset};
}

EntryName* EntryNames::Get(const Unit& unit, const Value& reference) {
  const Place place = Follow(unit, reference);
  if (place.unit == nullptr) return &none_;
  bool is_new = false;
  EntryName* name = known_.Get(place.unit->file->sections().info.data() + place.offset, &is_new);
  if (is_new) *name = Resolve(place);
  return name;
}

EntryName EntryNames::Resolve(Place place) const {
  EntryName result;
  for (int hop = 0; hop < kMaxHops && place.unit != nullptr; ++hop) {
    const Unit& unit = *place.unit;
    const Sections& sections = unit.file->sections();
    ByteReader reader(SliceOf(sections.info, 0, unit.end), place.offset);
    const AbbrevTable& table = abbrevs_->Get(sections.abbrev, unit.abbrev_offset, unit.format);
    const Abbrev* abbrev = table.Find(reader.Uleb());
    if (abbrev == nullptr) break;
    Value next;
    const AttributeSpec* spec = table.attributes(*abbrev);
    for (const AttributeSpec* end = spec + abbrev->attribute_count; spec != end; ++spec) {
      const Value value = ReadValue(&reader, spec->form, spec->implicit, unit.format);
      if (reader.failed()) break;
      switch (spec->name) {
        case DW_AT_linkage_name:
        case DW_AT_MIPS_linkage_name:
          if (const std::string_view name = unit.Text(value); !name.empty()) {
            result.name = name;
            result.is_linkage = true;
            return result;
          }
          break;
        case DW_AT_name:
          if (!result.name.empty()) break;
          result.name = unit.Text(value);
          result.declaration = place;
          break;
        case DW_AT_decl_line:
          if (result.line == 0) result.line = static_cast<uint32_t>(value.number);
          break;
        case DW_AT_external:
          result.is_external = value.number != 0;
          break;
        case DW_AT_abstract_origin:
        case DW_AT_specification:
          next = value;
          break;
        default:
          break;
      }
    }
    if (!next) break;
    place = Follow(unit, next);
  }
  return result;
}

}  // namespace heapgauge::dwarf
