#include "core/symbolize/dwarf/entry_names.h"

#include <dwarf.h>

#include <algorithm>

#include "core/elf/demangle.h"
#include "core/symbolize/dwarf/unit_walk.h"

namespace heapgauge::dwarf {
namespace {

constexpr int kMaxHops = 16;  // from an inlined call to the declaration that has the name

}  // namespace

Place Follow(const Unit& unit, const FormValue& reference) {
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

EntryName* EntryNames::Get(const Unit& unit, const FormValue& reference) {
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
    FormValue next;
    const AttributeSpec* spec = table.attributes(*abbrev);
    for (const AttributeSpec* end = spec + abbrev->attribute_count; spec != end; ++spec) {
      const FormValue value = ReadValue(&reader, spec->form, spec->implicit, unit.format);
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

namespace {

constexpr size_t kMostScopes = 1 << 10;
constexpr size_t kMaxNamedScopes = 32;
constexpr int kMaxParameters = 32;
constexpr int kMaxTypeHops = 16;
constexpr size_t kMaxText = 4096;

}  // namespace

struct ScopedNames::Fields {
  std::string_view name;
  FormValue type;
  uint64_t line = 0;
  bool artificial = false;
};

ScopedNames::Fields ScopedNames::Read(const Unit& unit, const AbbrevTable& table,
                                      const Abbrev& abbrev, ByteReader* reader) const {
  Fields fields;
  const AttributeSpec* spec = table.attributes(abbrev);
  for (const AttributeSpec* end = spec + abbrev.attribute_count; spec != end; ++spec) {
    const FormValue value = ReadValue(reader, spec->form, spec->implicit, unit.format);
    if (reader->failed()) break;
    if (spec->name == DW_AT_name) fields.name = unit.Text(value);
    if (spec->name == DW_AT_type) fields.type = value;
    if (spec->name == DW_AT_decl_line) fields.line = value.number;
    if (spec->name == DW_AT_artificial) fields.artificial = value.number != 0;
  }
  return fields;
}

void ScopedNames::NameAll(std::vector<EntryName*> entries, int64_t* budget) {
  std::sort(entries.begin(), entries.end(), [](const EntryName* a, const EntryName* b) {
    const Place& x = a->declaration;
    const Place& y = b->declaration;
    return x.unit != y.unit ? std::less<>()(x.unit, y.unit) : x.offset < y.offset;
  });
  for (size_t first = 0, last = 0; first < entries.size(); first = last) {
    const Unit* unit = entries[first]->declaration.unit;
    while (last < entries.size() && entries[last]->declaration.unit == unit) ++last;
    if (unit != nullptr) {
      NameInUnit(*unit, entries.data() + first, entries.data() + last, budget);
    }
  }
}

void ScopedNames::NameInUnit(const Unit& unit, EntryName** first, EntryName** last,
                             int64_t* budget) {
  const Bytes info = SliceOf(unit.file->sections().info, 0, unit.end);
  const AbbrevTable& table =
      abbrevs_->Get(unit.file->sections().abbrev, unit.abbrev_offset, unit.format);
  ByteReader reader(info, unit.first_entry);
  const Abbrev* root = table.Find(reader.Uleb());
  if (root == nullptr || !root->has_children) return;
  table.Skip(*root, &reader);
  std::vector<uint64_t> scopes;  // offsets of the entries around
  while (!reader.at_end() && first != last && --*budget > 0) {
    const uint64_t offset = reader.offset();
    const uint64_t code = reader.Uleb();
    if (code == 0) {
      if (scopes.empty()) return;
      scopes.pop_back();
      continue;
    }
    const Abbrev* abbrev = table.Find(code);
    if (abbrev == nullptr) return;
    const uint64_t attributes_at = reader.offset();
    table.Skip(*abbrev, &reader);
    while (first != last && (*first)->declaration.offset < offset) ++first;
    if (first != last && (*first)->declaration.offset == offset) {
      std::string text = Scope(unit, scopes);
      // Outside of everything and known to other units: a C function, whose plain name is its own.
      const bool is_c = text.empty() && (*first)->is_external;
      text += (*first)->name;
      text += "(";
      if (abbrev->has_children) text += Parameters(unit, reader);
      text += ")";
      *budget -= 64;
      std::string_view scoped;
      if (!is_c && text.size() <= kMaxText) scoped = texts_.emplace_back(std::move(text));
      for (; first != last && (*first)->declaration.offset == offset; ++first) {
        (*first)->scoped = scoped;
      }
    }
    if (!abbrev->has_children || first == last) continue;
    const uint64_t sibling = SiblingOf(unit, *abbrev, attributes_at);
    if (sibling > reader.offset() && (*first)->declaration.offset >= sibling) {
      reader.Seek(sibling);
      continue;
    }
    if (scopes.size() == kMostScopes) return;
    scopes.push_back(offset);
  }
}

std::string ScopedNames::Scope(const Unit& unit, const std::vector<uint64_t>& scopes) const {
  const Sections& sections = unit.file->sections();
  const AbbrevTable& table = abbrevs_->Get(sections.abbrev, unit.abbrev_offset, unit.format);
  std::string text;
  for (size_t i = scopes.size() - std::min(scopes.size(), kMaxNamedScopes); i < scopes.size();
       ++i) {
    ByteReader reader(SliceOf(sections.info, 0, unit.end), scopes[i]);
    const Abbrev* abbrev = table.Find(reader.Uleb());
    if (abbrev == nullptr) continue;
    if (abbrev->tag == DW_TAG_subprogram) {
      const EntryName function = names_->Resolve({&unit, scopes[i]});
      // A linkage name has all that is around it.
      if (function.is_linkage) text.clear();
      text +=
          function.is_linkage ? Demangle(std::string(function.name)) : std::string(function.name);
      text += "::";
      continue;
    }
    const bool is_namespace = abbrev->tag == DW_TAG_namespace;
    if (!is_namespace && abbrev->tag != DW_TAG_structure_type && abbrev->tag != DW_TAG_class_type &&
        abbrev->tag != DW_TAG_union_type) {
      continue;
    }
    const Fields fields = Read(unit, table, *abbrev, &reader);
    const bool is_lambda = fields.name.size() > 2 && fields.name.front() == '<';
    if (is_namespace && fields.name.empty()) {
      text += "(anonymous namespace)";
    } else if (is_namespace || !(fields.name.empty() || is_lambda)) {
      text += fields.name;
    } else {
      // All lambdas of one signature are named alike.
      text += '{';
      text += is_lambda ? fields.name.substr(1, fields.name.size() - 2) : "unnamed type";
      if (fields.line != 0) text += ", line " + std::to_string(fields.line);
      text += '}';
    }
    text += "::";
    if (text.size() > kMaxText) break;
  }
  return text;
}

std::string ScopedNames::Parameters(const Unit& unit, ByteReader reader) const {
  const AbbrevTable& table =
      abbrevs_->Get(unit.file->sections().abbrev, unit.abbrev_offset, unit.format);
  std::string text;
  for (int i = 0; i < kMaxParameters && !reader.at_end(); ++i) {
    const uint64_t code = reader.Uleb();
    const Abbrev* abbrev = code == 0 ? nullptr : table.Find(code);
    if (abbrev == nullptr || abbrev->has_children) break;
    const Fields fields = Read(unit, table, *abbrev, &reader);
    const bool more = abbrev->tag == DW_TAG_unspecified_parameters;
    // `this` is no parameter for people; what templates are made with comes in between.
    if (fields.artificial || (abbrev->tag != DW_TAG_formal_parameter && !more)) continue;
    if (!text.empty()) text += ", ";
    text += more ? "..." : TypeName(unit, fields.type);
    if (text.size() > kMaxText) break;
  }
  return text;
}

std::string ScopedNames::TypeName(const Unit& unit, FormValue type) const {
  std::string suffix;
  const Unit* at = &unit;
  for (int hop = 0; hop < kMaxTypeHops; ++hop) {
    if (!type) return "void" + suffix;
    const Place place = Follow(*at, type);
    if (place.unit == nullptr) break;
    at = place.unit;
    const Sections& sections = at->file->sections();
    const AbbrevTable& table = abbrevs_->Get(sections.abbrev, at->abbrev_offset, at->format);
    ByteReader reader(SliceOf(sections.info, 0, at->end), place.offset);
    const Abbrev* abbrev = table.Find(reader.Uleb());
    if (abbrev == nullptr) break;
    const Fields fields = Read(*at, table, *abbrev, &reader);
    if (!fields.name.empty()) return std::string(fields.name) + suffix;
    switch (abbrev->tag) {
      case DW_TAG_pointer_type:
        suffix.insert(0, "*");
        break;
      case DW_TAG_reference_type:
        suffix.insert(0, "&");
        break;
      case DW_TAG_rvalue_reference_type:
        suffix.insert(0, "&&");
        break;
      case DW_TAG_array_type:
        suffix.insert(0, "[]");
        break;
      case DW_TAG_const_type:
        suffix.insert(0, " const");
        break;
      case DW_TAG_volatile_type:
        suffix.insert(0, " volatile");
        break;
      case DW_TAG_subroutine_type:
        return "{function}" + suffix;
      default:
        return "{unnamed type}" + suffix;
    }
    type = fields.type;
  }
  return "?" + suffix;
}

}  // namespace heapgauge::dwarf
