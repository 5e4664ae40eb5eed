// ELF, DWARF, names kept on disk, perf maps and mangled names, all of which are somebody else's.
// The first byte chooses. DWARF sections are also tried without an ELF file around them, so that
// the fuzzer need not learn that format first: 9 lengths of 2 bytes, then the sections.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "core/elf/demangle.h"
#include "core/elf/elf_file.h"
#include "core/elf/symbols.h"
#include "core/symbolize/dwarf/entry_names.h"
#include "core/symbolize/dwarf/line_program.h"
#include "core/symbolize/dwarf/unit.h"
#include "core/symbolize/dwarf/unit_walk.h"
#include "core/symbolize/dwarf_lookup.h"
#include "core/symbolize/name_cache.h"
#include "core/symbolize/symbolizer.h"

namespace heapgauge {
namespace {

std::vector<uint64_t> SomeAddresses() {
  std::vector<uint64_t> addresses;
  for (uint64_t i = 1; i < 64; ++i) addresses.push_back(i * 0x40);
  addresses.push_back(0x401000);
  return addresses;
}

void TryElf(Bytes data) {
  auto elf = ElfFile::FromBytes({data.begin(), data.end()}, "/fuzz");
  if (!elf) return;
  SymbolTable table;
  table.AddFrom(elf->get());
  table.Finish();
  for (const uint64_t address : SomeAddresses()) table.Find(address);
  (*elf)->AltDebugLink();
  // No .dwo file is opened by a name that the input chose: units are looked at one by one below.
}

void TrySections(Bytes data) {
  ByteReader reader(data);
  dwarf::Sections sections;
  Bytes* all[] = {&sections.info,   &sections.abbrev,      &sections.line,
                  &sections.str,    &sections.str_offsets, &sections.addr,
                  &sections.ranges, &sections.rnglists,    &sections.line_str};
  uint64_t at = sizeof all / sizeof *all * 2;
  for (Bytes* section : all) {
    const uint16_t size = reader.U16();
    *section = SliceOf(data, at, size);
    at += size;
  }
  const std::vector<uint64_t> addresses = SomeAddresses();
  const dwarf::DwarfFile file(sections, nullptr, false);
  dwarf::AbbrevCache abbrevs;
  dwarf::EntryNames names(&abbrevs);
  dwarf::ScopedNames scoped_names(&abbrevs, &names);
  dwarf::WalkBuffers buffers;
  int64_t budget = 2'000'000;
  for (const dwarf::Unit& unit : file.units()) {
    std::vector<dwarf::Range> ranges;
    unit.AppendRanges(unit.low, unit.high, unit.ranges, &budget, &ranges);
    dwarf::LineProgram lines(unit);
    std::vector<dwarf::LineRow> rows(addresses.size());
    lines.Run(addresses, 0, &budget, rows.data());
    dwarf::UnitWalk walk(unit, addresses, 0, &abbrevs, &buffers);
    walk.Run(&budget);
    walk.RunThoroughly(&budget);
    for (size_t i = 0; i < addresses.size(); ++i) {
      lines.FilePath(rows[i].file);
      for (int32_t node = walk.node_of()[i]; node >= 0; node = walk.node(node).parent) {
        scoped_names.NameAll({names.Get(unit, walk.node(node).entry)}, &budget);
        lines.FilePath(walk.node(node).call_file);
      }
    }
  }
}

}  // namespace
}  // namespace heapgauge

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace heapgauge;
  if (size == 0) return 0;
  const Bytes rest(data + 1, size - 1);
  const std::string text(reinterpret_cast<const char*>(rest.data()), rest.size());
  switch (data[0] % 5) {
    case 0:
      TryElf(rest);
      break;
    case 1:
      TrySections(rest);
      break;
    case 2:
      if (const auto names = DecodeNames(text); names && names->addresses.size() > size) {
        __builtin_trap();
      }
      break;
    case 3:
      PerfMap::Parse(text).Find(0x1000);
      break;
    default:
      Demangle((size % 2 == 0 ? "_Z" : "_R") + text);
  }
  return 0;
}
