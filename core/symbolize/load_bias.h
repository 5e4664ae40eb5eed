// Where a file was loaded, for profiles that tell only which part of it was mapped where.
//
// A mapping of file offset f at address a belongs to a segment with offset o and linked address v;
// there the load bias is a - (f - o + v). Which segment it is has to be guessed where several
// share a page, or where the writer of the profile stretched the mapping down to offset 0 while the
// segments' addresses do not keep the distance of their offsets (as lld lays them out). So each
// guess is tried, and the one that puts the most addresses of the profile into code wins; among
// equals, the one whose code ends where the mapping does.
#pragma once

#include <cstdint>
#include <vector>

#include "core/elf/elf_file.h"
#include "core/model/types.h"

namespace heapgauge {

// `addresses` are some of the profile's in that module. Pure.
uint64_t FindLoadBias(const ElfFile& file, const Module& module,
                      const std::vector<uint64_t>& addresses);

}  // namespace heapgauge
