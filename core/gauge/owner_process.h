// The process that a gauge file is of, under the number that it has here. A program in a pid
// namespace of its own (a container, `unshare -p`) writes the number that it has there, which may
// be that of somebody else here: process 1, mostly.
//
// Reads /proc; every answer was true when it was read.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "core/base/result.h"
#include "wire/gauge_format.h"

namespace heapgauge {

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
// it is gone, has said goodbye, or cannot be found.
uint32_t RunningAs(const GaugeOwner& owner);

// True if the process that made the file is still there (or its number may be trusted).
bool OwnerRuns(const GaugeOwner& owner);

struct OwnerProcess {
  uint32_t pid = 0;          // 0: there is none, or none any more
  uint64_t start_ticks = 0;  // as they are told here; 0: by its number alone

  // The number that stands for it here, though it is gone.
  uint32_t NumberOf(const GaugeOwner& owner) const { return pid != 0 ? pid : owner.pid; }
};

// One that has the file mapped, or had: by the number and the start that the file tells. Processes
// that are older than this one are no program of a recorder's, unless they have that very number.
// `may_wait`: one that has said goodbye may be waiting for a leak check; else it is not looked for
// everywhere, as there may be very many.
OwnerProcess FindOwnerProcess(const GaugeOwner& owner, bool may_wait);

bool IsGone(const OwnerProcess& process);

// What a reader can tell of the process that made a file.
struct OwnerSearch {
  OwnerProcess process;  // the running one
  // There is none that is seen, but there may be one: /proc is that of another namespace, or does
  // not show everything.
  bool unclear = false;
};

// By number and start if the file is of the namespace that /proc shows, else whoever has that
// number in a namespace of its own and has the file mapped, or began when the file says. Says
// nothing of programs that said goodbye, and of copies.
OwnerSearch FindRunningOwner(const GaugeOwner& owner);

// The threads of a process, and its children (one that was made by vfork writes as a thread of its
// parent does), by the numbers that they have in their own namespace.
std::unordered_map<uint32_t, uint32_t> ThreadsByOwnNumber(uint32_t pid);

}  // namespace heapgauge
