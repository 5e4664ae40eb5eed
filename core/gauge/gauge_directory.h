// Where gauge files are on this host, and which belong to a process.
//
// The directories are those the agent chooses from: $HEAPGAUGE_DIR, else
// $XDG_RUNTIME_DIR/heapgauge, else /dev/shm/heapgauge-<uid>, else /tmp/heapgauge-<uid>. A reader
// looks into all of them, as root into those of all users. Reads directories and headers only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/gauge/gauges_in_memory.h"
#include "core/gauge/owner_process.h"

namespace heapgauge {

// Existing directories that may hold gauge files, in the order in which the agent prefers them.
std::vector<std::string> GaugeDirectories();

// Paths of the gauge files of a directory, sorted by name. Fails if it cannot be listed.
Result<std::vector<std::string>> ListGaugeFiles(const std::string& directory);

// True if the owner's process executed another program: it has made a newer file in the same
// directory, or runs on and maps no gauge file any more, because the agent is not in that program.
bool WasReplaced(const GaugeOwner& owner);

// The gauge file of a process: the one that it has mapped, wherever that is; else, in the
// directories above, that of the running one if there is one, or the newest of that pid. Dumps are
// not considered. The error says whether the process exists and what to do.
Result<std::string> FindGaugeOf(uint32_t pid);

}  // namespace heapgauge
