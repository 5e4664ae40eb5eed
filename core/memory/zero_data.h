// The zero-initialised data (.bss) of the programs and libraries that a process has loaded. It is
// anonymous memory right behind an object's data, and other anonymous memory may follow without a
// gap; the object's program headers tell where it ends.
//
// The files are treated as hostile: a header that makes no sense counts as unreadable.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/os/smaps.h"

namespace heapgauge {

// True if the mapping can begin with zero-initialised data of the one before it.
bool MayHoldZeroData(const std::vector<MappingUsage>& mappings, size_t index);

// For each such mapping, by its start: where that data ends. The start itself if the object has
// none there; no entry if the object could not be read. `root` is where the process's paths begin,
// "/proc/PID/root" as a rule.
std::map<uint64_t, uint64_t> FindZeroData(const std::vector<MappingUsage>& mappings,
                                          const std::string& root);

}  // namespace heapgauge
