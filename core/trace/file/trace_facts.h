// What a trace tells beside its blocks: as data, as bytes, and what is missing in words.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/model/recording.h"
#include "core/trace/file/column.h"

namespace heapgauge::trace {

// No time of a trace is later, whatever a file says: sums of several do not wrap.
inline constexpr uint64_t kLatestNs = uint64_t{1} << 62;

// What a trace tells about the program beside its blocks: who it was, its threads, its memory as
// the kernel saw it, and marks in time.
//
// Plain data.
struct Facts {
  RecordingFacts recording;    // program, command line, pid, allocator, start, state, duration
  uint64_t lost_events = 0;    // that found no room
  uint64_t unknown_frees = 0;  // of blocks that the trace does not know
  uint64_t missed_frees = 0;   // blocks whose address was handed out again
  uint64_t waits = 0;          // how often a thread of the program waited for the recorder
  uint64_t waited_ns = 0;
  uint64_t culled_below_ns = 0;  // blocks that lived shorter were left out; 0 none
  uint64_t culled_blocks = 0;
  uint64_t culled_bytes = 0;
  bool records_mappings = false;
  // Another tool recorded it, which tells sizes, stacks and times of blocks, but not their threads,
  // calls, alignment, slack, nor which are resized ones.
  bool only_blocks = false;
  bool complete = false;  // the recorder wrote the end
  // When the program went on without being traced, since the start; 0: it did not.
  uint64_t untraced_from_ns = 0;
  // Its writer was at work when the file was opened. Not in the file.
  bool being_written = false;
  // It has no end, or is damaged, and nobody writes it, or the program was no longer traced: what
  // is behind is missing. Not in the file.
  bool breaks_off = false;
};

// Frees of blocks that it ought to know: allocations are missing. Forked processes free what their
// parents made, and blocks of events that are lost are lost with them.
inline bool LacksAllocations(const Facts& facts) {
  return facts.unknown_frees != 0 && !facts.recording.forked && facts.lost_events == 0;
}

struct Thread {
  uint32_t id = 0;        // the kernel's
  std::string name;       // the last that was seen
  uint64_t first_ns = 0;  // its first event
};

// 0 is unknown.
struct MemoryPoint {
  uint64_t time_ns = 0;
  uint64_t resident_bytes = 0;
  uint64_t anonymous_bytes = 0;
  uint64_t proportional_bytes = 0;  // PSS; taken more rarely than the rest
  uint64_t swapped_bytes = 0;
  uint64_t cgroup_bytes = 0;
  uint64_t cgroup_limit = 0;
};

struct Marker {
  uint64_t time_ns = 0;
  std::string text;
};

// The facts of a trace (program, allocator, what was lost) as bytes: fields with numbers of their
// own, so that a reader passes over those it does not know.
void EncodeFacts(const Facts& facts, ColumnWriter* out);
// False if the bytes make no sense.
bool DecodeFacts(std::span<const uint8_t> bytes, Facts* out);

// What a trace does not have, in words: its end, events that found no room, blocks that were left
// out. TraceFile::notes() has them for every report, so that all say the same.
//
// Pure function.
//
// One line each. `is_damaged`: it is told already that the rest of the file cannot be read, and so
// is its end.
std::vector<std::string> GapsOf(const Facts& facts, bool is_damaged);

}  // namespace heapgauge::trace
