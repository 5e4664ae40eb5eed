// Where gauge files are on this host, and which belong to a process.
//
// The directories are those the agent chooses from: $HEAPGAUGE_DIR, else
// $XDG_RUNTIME_DIR/heapgauge, else /dev/shm/heapgauge-<uid>, else /tmp/heapgauge-<uid>. A reader
// looks into all of them, as root into those of all users. Reads directories and headers only.
#ifndef HEAPGAUGE_CORE_GAUGE_GAUGE_DIRECTORY_H_
#define HEAPGAUGE_CORE_GAUGE_GAUGE_DIRECTORY_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "wire/gauge_format.h"

namespace heapgauge {

// Existing directories that may hold gauge files, in the order in which the agent prefers them.
std::vector<std::string> GaugeDirectories();

// True for NAME.hg and NAME.hg.N, as later programs of one process are called.
bool IsGaugeFileName(std::string_view name);

// Paths of the gauge files of a directory, sorted by name. Fails if it cannot be listed.
Result<std::vector<std::string>> ListGaugeFiles(const std::string& directory);

// What the header tells about whose file it is.
struct GaugeOwner {
  std::string path;
  uint32_t pid = 0;
  uint32_t parent_pid = 0;
  uint64_t process_start_ticks = 0;
  uint64_t start_realtime_ns = 0;
  uint64_t ended_ns = 0;
  bool is_copy = false;        // a dump: nobody's own file
  uint32_t recorder_pid = 0;   // who records its trace, as it was told; 0 unknown
  uint64_t dump_ns = 0;        // of a dump: when it was made, after the start
  uint64_t pid_namespace = 0;  // whose numbers the above are; 0 unknown
};
GaugeOwner OwnerIn(const wire::Header& header, const std::string& path);
Result<GaugeOwner> ReadOwner(const std::string& path);

// The number that the process which made the file has here, in whatever pid namespace it is. 0 if
// it is gone, has said goodbye, or cannot be found (owner_process.h).
uint32_t RunningAs(const GaugeOwner& owner);

// True if the process that made the file is still there (or its number may be trusted).
bool OwnerRuns(const GaugeOwner& owner);

// True if the owner's process executed another program: it has made a newer file in the same
// directory, or runs on and maps no gauge file any more, because the agent is not in that program.
bool WasReplaced(const GaugeOwner& owner);

// The gauge file of a process: the one that it has mapped, wherever that is; else, in the
// directories above, that of the running one if there is one, or the newest of that pid. Dumps are
// not considered. The error says whether the process exists and what to do.
Result<std::string> FindGaugeOf(uint32_t pid);

}  // namespace heapgauge

#endif  // HEAPGAUGE_CORE_GAUGE_GAUGE_DIRECTORY_H_
