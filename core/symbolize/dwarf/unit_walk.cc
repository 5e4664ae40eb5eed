#include "core/symbolize/dwarf/unit_walk.h"

#include <dwarf.h>

#include <algorithm>

namespace heapgauge::dwarf {
namespace {

constexpr size_t kMaxScopes = 1 << 16;

}  // namespace

uint64_t SiblingOf(const Unit& unit, const Abbrev& abbrev, uint64_t attributes_at) {
  if (abbrev.sibling_size == 0) return 0;
  ByteReader reader(SliceOf(unit.file->sections().info, 0, unit.end),
                    attributes_at + abbrev.sibling_at);
  const uint64_t at = unit.offset + reader.Unsigned(static_cast<unsigned>(abbrev.sibling_size));
  return reader.failed() || at > unit.end ? 0 : at;
}

UnitWalk::UnitWalk(const Unit& unit, std::span<const uint64_t> addresses, uint64_t lowest,
                   AbbrevCache* abbrevs, WalkBuffers* buffers)
    : unit_(unit),
      addresses_(addresses),
      lowest_(lowest),
      abbrevs_(abbrevs->Get(unit.file->sections().abbrev, unit.abbrev_offset, unit.format)),
      nodes_(buffers->nodes),
      node_of_(buffers->node_of) {
  nodes_.clear();
  node_of_.assign(addresses.size(), -1);
}

void UnitWalk::Walk(bool thorough, int64_t* budget) {
  ByteReader reader(SliceOf(unit_.file->sections().info, 0, unit_.end), unit_.first_entry);
  const Abbrev* root = abbrevs_.Find(reader.Uleb());
  if (root == nullptr || !root->has_children) return;
  abbrevs_.Skip(*root, &reader);
  std::vector<Scope> scopes = {{false, -1}};
  while (!reader.at_end() && --*budget > 0) {
    const uint64_t offset = reader.offset();
    const uint64_t code = reader.Uleb();
    if (code == 0) {
      scopes.pop_back();
      if (scopes.empty()) return;
      continue;
    }
    const Abbrev* abbrev = abbrevs_.Find(code);
    if (abbrev == nullptr) return;
    const uint64_t attributes_at = reader.offset();
    const Scope scope = scopes.back();
    Scope inner = scope;
    bool enter = false;
    switch (abbrev->tag) {
      case DW_TAG_subprogram: {
        if (!abbrev->has_code) {  // a declaration, or what inlined calls refer to
          abbrevs_.Skip(*abbrev, &reader);
          inner.code = false;
          enter = thorough;
          break;
        }
        const Entry entry = ReadEntry(*abbrev, &reader);
        inner.node = Claim(entry, -1, {ValueKind::kReference, offset - unit_.offset, {}}, budget);
        inner.code = inner.node >= 0;
        enter = inner.code || thorough;
        break;
      }
      case DW_TAG_inlined_subroutine: {
        if (!scope.code || !abbrev->has_code) {
          inner.code = false;
          abbrevs_.Skip(*abbrev, &reader);
          enter = thorough;
          break;
        }
        const Entry entry = ReadEntry(*abbrev, &reader);
        inner.node = Claim(entry, scope.node, entry.origin, budget);
        enter = inner.node >= 0 || thorough;
        if (inner.node < 0) inner.code = false;
        break;
      }
      case DW_TAG_lexical_block:
      case DW_TAG_try_block:
      case DW_TAG_catch_block:
        abbrevs_.Skip(*abbrev, &reader);
        enter = scope.code || thorough;
        break;
      case DW_TAG_namespace:
      case DW_TAG_module:
        abbrevs_.Skip(*abbrev, &reader);
        enter = true;
        break;
      default:
        abbrevs_.Skip(*abbrev, &reader);
        enter = thorough;
        inner.code = false;
    }
    if (!abbrev->has_children) continue;
    if (enter && scopes.size() < kMaxScopes) {
      scopes.push_back(inner);
    } else {
      SkipChildren(*abbrev, attributes_at, &reader, budget);
    }
  }
}

UnitWalk::Entry UnitWalk::ReadEntry(const Abbrev& abbrev, ByteReader* reader) const {
  Entry entry;
  const AttributeSpec* spec = abbrevs_.attributes(abbrev);
  for (const AttributeSpec* end = spec + abbrev.attribute_count; spec != end; ++spec) {
    const FormValue value = ReadValue(reader, spec->form, spec->implicit, unit_.format);
    switch (spec->name) {
      case DW_AT_low_pc:
        entry.low = value;
        break;
      case DW_AT_high_pc:
        entry.high = value;
        break;
      case DW_AT_ranges:
        entry.ranges = value;
        break;
      case DW_AT_abstract_origin:
        entry.origin = value;
        break;
      case DW_AT_call_file:
        entry.call_file = static_cast<uint32_t>(value.number);
        break;
      case DW_AT_call_line:
        entry.call_line = static_cast<uint32_t>(value.number);
        break;
      default:
        break;
    }
  }
  return entry;
}

int32_t UnitWalk::Claim(const Entry& entry, int32_t parent, const FormValue& reference,
                        int64_t* budget) {
  ranges_.clear();
  FormValue ranges = entry.ranges;
  // The lists of split DWARF 4 count from where the skeleton says.
  if (ranges.kind == ValueKind::kOffset && unit_.format.version < 5) {
    ranges.number += unit_.ranges_base;
  }
  unit_.AppendRanges(entry.low, entry.high, ranges, budget, &ranges_);
  auto begin = addresses_.begin();
  auto end = addresses_.end();
  if (parent >= 0) {
    end = begin + nodes_[static_cast<size_t>(parent)].last;
    begin += nodes_[static_cast<size_t>(parent)].first;
  }
  int32_t node = -1;
  for (const CodeRange& range : ranges_) {
    if (range.low < lowest_) continue;
    auto it = std::lower_bound(begin, end, range.low);
    for (; it != end && *it < range.high; ++it, --*budget) {
      const uint32_t index = static_cast<uint32_t>(it - addresses_.begin());
      int32_t& owner = node_of_[index];
      if (owner != parent) continue;
      if (node < 0) {
        node = static_cast<int32_t>(nodes_.size());
        nodes_.push_back({parent, reference, entry.call_file, entry.call_line, index, index});
      }
      owner = node;
      CodeNode& claimed = nodes_[static_cast<size_t>(node)];
      claimed.first = std::min(claimed.first, index);
      claimed.last = std::max(claimed.last, index + 1);
    }
  }
  return node;
}

void UnitWalk::SkipChildren(const Abbrev& abbrev, uint64_t attributes_at, ByteReader* reader,
                            int64_t* budget) const {
  const uint64_t sibling = SiblingOf(unit_, abbrev, attributes_at);
  if (sibling > reader->offset()) return reader->Seek(sibling);
  uint64_t depth = 1;
  while (!reader->at_end() && --*budget > 0) {
    const uint64_t code = reader->Uleb();
    if (code == 0) {
      if (--depth == 0) return;
      continue;
    }
    const Abbrev* child = abbrevs_.Find(code);
    if (child == nullptr) return reader->Fail();
    abbrevs_.Skip(*child, reader);
    if (child->has_children) ++depth;
  }
}

}  // namespace heapgauge::dwarf
