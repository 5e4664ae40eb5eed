// The text of a node in massif's tree: "0x4848899: malloc (vg_replace_malloc.c:381)", "0x109151:
// ??? (in /usr/bin/x)", "in 3 places, all below massif's threshold (1.00%)".
//
// Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace heapgauge {

struct MassifFrame {
  uint64_t address = 0;   // 0 unknown
  std::string_view name;  // "" unknown
  std::string_view file;  // "" unknown
  uint32_t line = 0;
  std::string_view module;  // "" unknown
  bool folded = false;      // stands for several places; `name` says so
};

// Parts of the text, which must outlive them.
MassifFrame ParseMassifFrame(std::string_view text);

// The other way round.
std::string MassifFrameText(const MassifFrame& frame);

}  // namespace heapgauge
