// Functions, inlined calls and source lines from DWARF, for many addresses at once.
//
// Each compilation unit that has an address of interest is walked once, and within it only
// functions that hold such an address; so the cost follows the code that appears in the profile,
// not the program's size. Units are found by their own ranges: .debug_aranges is not needed (clang
// does not write it).
//
// Owned by one thread; results own their text.
#ifndef HEAPGAUGE_CORE_SYMBOLIZE_DWARF_LOOKUP_H_
#define HEAPGAUGE_CORE_SYMBOLIZE_DWARF_LOOKUP_H_

#include <cstdint>
#include <string>
#include <vector>

struct Dwarf;

namespace heapgauge {

struct SourceFrame {
  std::string system_name;  // the linker's, or the plain name; "" unknown
  std::string file;
  uint32_t line = 0;
  bool inlined = false;
};

// Frames for each address, innermost first; empty where DWARF knows nothing. REQUIRES: `addresses`
// is sorted, without repeats, and in terms of the ELF file.
std::vector<std::vector<SourceFrame>> LookUpInDwarf(Dwarf* dwarf,
                                                    const std::vector<uint64_t>& addresses);

}  // namespace heapgauge

#endif  // HEAPGAUGE_CORE_SYMBOLIZE_DWARF_LOOKUP_H_
