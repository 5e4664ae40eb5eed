// The memory of another process, and how much it may have, in the form that gauge files keep it.
// Cheap enough to ask many times a second.
#pragma once

#include <cstdint>
#include <optional>

#include "wire/gauge_format.h"

namespace heapgauge {

// Nothing if the process is gone. State and time are for the caller to fill in.
std::optional<wire::ProcessMemory> ReadProcessMemory(uint32_t pid);

// The largest share of any limit that is in use; the machine's memory is the limit where there is
// no cgroup's.
double ShareOfLimit(const wire::ProcessMemory& memory, uint64_t machine_bytes);

}  // namespace heapgauge
