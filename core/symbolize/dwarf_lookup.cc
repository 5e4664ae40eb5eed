#include "core/symbolize/dwarf_lookup.h"

#include <dwarf.h>
#include <elfutils/libdw.h>

#include <algorithm>
#include <cstddef>

namespace heapgauge {
namespace {

constexpr int kMaxNesting = 256;  // of DIEs; deeper trees are damage

struct UnitRange {
  uint64_t low;
  uint64_t high;
  uint32_t unit;
};

std::string NameOf(Dwarf_Die* die) {
  Dwarf_Attribute attribute;
  for (const unsigned name : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name}) {
    if (dwarf_attr_integrate(die, name, &attribute) == nullptr) continue;
    if (const char* text = dwarf_formstring(&attribute); text != nullptr) return text;
  }
  return "";
}

class UnitLookup {
 public:
  // One result for each address. REQUIRES: sorted addresses, which outlive the object.
  UnitLookup(const Dwarf_Die& unit, const std::vector<uint64_t>& addresses,
             std::vector<std::vector<SourceFrame>>* results)
      : unit_(unit),
        first_(addresses.data()),
        last_(addresses.data() + addresses.size()),
        results_(*results),
        chains_(addresses.size()) {}

  void Run() {
    WalkScope(&unit_, 0);
    size_t file_count = 0;
    Dwarf_Files* files = nullptr;
    if (dwarf_getsrcfiles(&unit_, &files, &file_count) != 0) files = nullptr;
    for (size_t i = 0; i < chains_.size(); ++i) FillFrames(i, files, file_count);
  }

 private:
  // Calls fn with the index of each address of interest within the DIE's ranges; there is none in
  // nearly all DIEs. Returns whether there was any.
  template <typename Fn>
  bool ForEachInside(Dwarf_Die* die, Fn fn) {
    bool any = false;
    Dwarf_Addr base = 0;
    Dwarf_Addr low = 0;
    Dwarf_Addr high = 0;
    for (ptrdiff_t at = 0; (at = dwarf_ranges(die, at, &base, &low, &high)) > 0;) {
      for (const uint64_t* p = std::lower_bound(first_, last_, low); p != last_ && *p < high; ++p) {
        any = true;
        fn(static_cast<size_t>(p - first_));
      }
    }
    return any;
  }

  // Looks for functions in units, namespaces and types.
  void WalkScope(Dwarf_Die* parent, int depth) {
    if (depth > kMaxNesting) return;
    Dwarf_Die die;
    if (dwarf_child(parent, &die) != 0) return;
    do {
      switch (dwarf_tag(&die)) {
        case DW_TAG_subprogram: {
          const bool inside = ForEachInside(&die, [&](size_t i) { chains_[i].assign(1, die); });
          if (inside) WalkFunction(&die, depth + 1);
          // Functions may be nested in others without ranges of their own (Rust, lambdas).
          if (!inside && dwarf_haschildren(&die) == 1 && !dwarf_hasattr(&die, DW_AT_declaration) &&
              !dwarf_hasattr(&die, DW_AT_low_pc) && !dwarf_hasattr(&die, DW_AT_ranges)) {
            WalkScope(&die, depth + 1);
          }
          break;
        }
        case DW_TAG_namespace:
        case DW_TAG_module:
        case DW_TAG_class_type:
        case DW_TAG_structure_type:
        case DW_TAG_union_type:
        case DW_TAG_enumeration_type:
          WalkScope(&die, depth + 1);
          break;
        default:
          break;
      }
    } while (dwarf_siblingof(&die, &die) == 0);
  }

  // Looks for inlined calls, outermost first, so that chains grow inwards.
  void WalkFunction(Dwarf_Die* parent, int depth) {
    if (depth > kMaxNesting) return;
    Dwarf_Die die;
    if (dwarf_child(parent, &die) != 0) return;
    do {
      switch (dwarf_tag(&die)) {
        case DW_TAG_inlined_subroutine:
          if (ForEachInside(&die, [&](size_t i) {
                if (chains_[i].size() < kMaxNesting) chains_[i].push_back(die);
              })) {
            WalkFunction(&die, depth + 1);
          }
          break;
        case DW_TAG_lexical_block:
        case DW_TAG_try_block:
        case DW_TAG_catch_block:
          WalkFunction(&die, depth + 1);
          break;
        default:
          break;
      }
    } while (dwarf_siblingof(&die, &die) == 0);
  }

  void FillFrames(size_t index, Dwarf_Files* files, size_t file_count) {
    std::string file;
    int line = 0;
    if (Dwarf_Line* source = dwarf_getsrc_die(&unit_, first_[index]); source != nullptr) {
      if (const char* name = dwarf_linesrc(source, nullptr, nullptr); name != nullptr) file = name;
      dwarf_lineno(source, &line);
    }
    std::vector<Dwarf_Die>& chain = chains_[index];
    std::vector<SourceFrame>& frames = results_[index];
    if (chain.empty()) {
      if (!file.empty())
        frames.push_back({"", file, static_cast<uint32_t>(std::max(line, 0)), false});
      return;
    }
    // Innermost first: its line is the address's own, its caller's is where it was inlined.
    for (size_t i = chain.size(); i-- > 0;) {
      frames.push_back({NameOf(&chain[i]), file, static_cast<uint32_t>(std::max(line, 0)), i > 0});
      if (i == 0) break;
      Dwarf_Attribute attribute;
      Dwarf_Word value = 0;
      file.clear();
      line = 0;
      if (dwarf_formudata(dwarf_attr(&chain[i], DW_AT_call_file, &attribute), &value) == 0 &&
          files != nullptr && value < file_count) {
        if (const char* name = dwarf_filesrc(files, value, nullptr, nullptr); name != nullptr) {
          file = name;
        }
      }
      if (dwarf_formudata(dwarf_attr(&chain[i], DW_AT_call_line, &attribute), &value) == 0 &&
          value < 0x7fffffff) {
        line = static_cast<int>(value);
      }
    }
  }

  Dwarf_Die unit_;
  const uint64_t* first_;
  const uint64_t* last_;
  std::vector<std::vector<SourceFrame>>& results_;
  std::vector<std::vector<Dwarf_Die>>
      chains_;  // for each address: the function, then inlined calls
};

}  // namespace

std::vector<std::vector<SourceFrame>> LookUpInDwarf(Dwarf* dwarf,
                                                    const std::vector<uint64_t>& addresses) {
  std::vector<std::vector<SourceFrame>> results(addresses.size());
  if (addresses.empty()) return results;
  std::vector<Dwarf_Die> units;
  std::vector<UnitRange> ranges;
  Dwarf_CU* cu = nullptr;
  Dwarf_Die die;
  Dwarf_Die split;
  uint8_t type = 0;
  while (dwarf_get_units(dwarf, cu, &cu, nullptr, &type, &die, &split) == 0) {
    if (type != DW_UT_compile && type != DW_UT_skeleton) continue;
    // A skeleton has the ranges; the rest is in the .dwo file, if libdw found it.
    Dwarf_Die* content = type == DW_UT_skeleton && split.addr != nullptr ? &split : &die;
    Dwarf_Addr base = 0;
    Dwarf_Addr low = 0;
    Dwarf_Addr high = 0;
    bool wanted = false;
    for (ptrdiff_t at = 0; (at = dwarf_ranges(&die, at, &base, &low, &high)) > 0;) {
      const auto it = std::lower_bound(addresses.begin(), addresses.end(), low);
      if (it == addresses.end() || *it >= high) continue;
      ranges.push_back({low, high, static_cast<uint32_t>(units.size())});
      wanted = true;
    }
    if (wanted) units.push_back(*content);
  }
  // The addresses of each unit; a unit's need not be neighbours (-ffunction-sections, cold parts).
  std::vector<std::vector<size_t>> unit_indexes(units.size());
  std::vector<bool> taken(addresses.size());
  for (const UnitRange& range : ranges) {
    auto it = std::lower_bound(addresses.begin(), addresses.end(), range.low);
    for (; it != addresses.end() && *it < range.high; ++it) {
      const size_t index = static_cast<size_t>(it - addresses.begin());
      if (taken[index]) continue;  // overlapping units: the first one has it
      taken[index] = true;
      unit_indexes[range.unit].push_back(index);
    }
  }
  for (size_t unit = 0; unit < units.size(); ++unit) {
    std::vector<size_t>& indexes = unit_indexes[unit];
    std::sort(indexes.begin(), indexes.end());
    std::vector<uint64_t> wanted;
    for (const size_t index : indexes) wanted.push_back(addresses[index]);
    std::vector<std::vector<SourceFrame>> found(wanted.size());
    UnitLookup(units[unit], wanted, &found).Run();
    for (size_t i = 0; i < indexes.size(); ++i) results[indexes[i]] = std::move(found[i]);
  }
  return results;
}

}  // namespace heapgauge
