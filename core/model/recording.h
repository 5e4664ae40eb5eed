// How a profile came about: which program, over which allocator, how it was sampled and what is
// missing. Reports open with this. A format that does not know a fact leaves it at its default, and
// the report does not mention it.
//
// Plain data.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace heapgauge {

enum class RecordingState {
  kUnknown,
  kLive,      // the program runs and the figures are of this moment
  kEnded,     // the program ended in good order
  kKilled,    // the program is gone and did not say goodbye: a signal, the OOM killer
  kReplaced,  // the process executed another program, which has a file of its own if any
  kSnapshot,  // a copy made while the program ran
  kGone,      // as killed, where it may as well have left in a way that the agent does not see
};
const char* StateName(RecordingState state);
// Nothing new will come of it.
bool IsOver(RecordingState state);

// How a dump came about. In the file of a program: the last one that the agent made.
struct DumpFacts {
  uint32_t sequence = 0;  // 0: none
  std::string reason;     // "request", "exit", "allocated", "growth", "time", "limit"; "" none
  uint64_t time_ns = 0;
  uint32_t failures = 0;  // dumps that could not be written
  uint32_t last_error = 0;

  // The process as the kernel accounts for it, at `memory_ns`; 0 unknown.
  uint64_t memory_ns = 0;
  uint64_t resident_bytes = 0;
  uint64_t anonymous_bytes = 0;
  uint64_t file_bytes = 0;
  uint64_t shared_bytes = 0;
  uint64_t swapped_bytes = 0;
  uint64_t cgroup_bytes = 0;
  uint64_t cgroup_limit = 0;
  uint64_t address_space_bytes = 0;
  uint64_t address_space_limit = 0;
};

struct RecordingFacts {
  RecordingState state = RecordingState::kUnknown;
  std::string program;  // path of the executable
  std::vector<std::string> command_line;
  uint32_t pid = 0;
  uint32_t parent_pid = 0;
  uint32_t uid = 0;
  bool forked = false;  // the process was forked from a profiled one and did not exec
  // When that was, 0 unknown. Times of a forked process count from the start of its parent, so that
  // those of a server and its workers can be compared.
  uint64_t forked_ns = 0;
  bool active = true;   // sampling was switched on
  bool traced = false;  // every call goes into a trace (run --trace), and no sample is taken
  bool trace_given_up = false;  // it was traced, until nobody took its events any more

  std::string allocator;  // "glibc", "jemalloc", ...
  std::string allocator_path;

  uint64_t start_unix_ns = 0;
  uint64_t duration_ns = 0;  // until the end, the last sign of life, or now
  uint64_t reset_ns = 0;     // counters and live blocks count from here; 0: from the start

  uint64_t interval = 0;           // mean bytes between samples, as asked for; 0 exact
  uint64_t interval_in_force = 0;  // larger while the cap on samples per second works
  uint32_t max_samples_per_second = 0;
  uint64_t samples = 0;
  uint64_t live_samples = 0;
  uint64_t inherited_samples = 0;  // of the live ones
  std::vector<std::pair<std::string, uint64_t>>
      lost;                 // reason, samples; only reasons that occurred
  uint64_t lost_bytes = 0;  // estimate of what they stood for
  // The file could not grow at times, because the program had no file descriptor left.
  bool lacked_descriptors = false;
  uint64_t lost_mappings = 0;       // calls of mmap and its kin that could not be noted
  uint64_t truncated_walks = 0;     // samples without their outermost frames; of a trace, stacks
  uint64_t unreadable_records = 0;  // half-written or damaged, left out

  uint64_t file_bytes = 0;
  uint64_t private_bytes = 0;  // the agent's memory outside of the file

  // Where all of the resident memory is, in one line, for a process that runs; "" unknown.
  std::string memory;

  bool is_peak = false;  // the live figures are those of the peak
  bool has_peak = false;
  uint64_t peak_ns = 0;  // when
  uint64_t peak_bytes = 0;

  // Of an exact trace: every block is known, figures are no estimates.
  bool exact = false;
  bool has_gaps = false;  // but for those that were lost or left out when it was recorded
  std::string moment;     // which moment or range of it, "at 12.3s"
  std::string filter;     // which blocks of it; "" all of the heap

  // How many more recordings are added up with this one; what cannot be added up is its own.
  uint64_t others = 0;

  bool is_dump = false;  // a copy that says so itself, see `dump`
  DumpFacts dump;

  // What people call the program: the name it was started by, which may be that of a link.
  std::string name() const;
  // The command line in one line. What a process that changed it (PostgreSQL's do) left empty at
  // its end is not part of it.
  std::string command() const;

  // When the process itself began. A machine that slept may have made that later than all else: it
  // is not known then.
  uint64_t began_ns() const { return forked_ns <= duration_ns ? forked_ns : 0; }
  uint64_t lived_ns() const { return duration_ns - began_ns(); }

  uint64_t lost_samples() const {
    uint64_t sum = 0;
    for (const auto& [reason, count] : lost) sum += count;
    return sum;
  }
};

}  // namespace heapgauge
