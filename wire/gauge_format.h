// The gauge file: everything the agent knows about one process, in one mapped, shared file.
//
// This header is the only thing the agent (writer) and the readers have in common. It fixes bytes,
// not behaviour; docs/formats/gauge.md tells the same in prose.
//
// Shape. The file is a row of segments of kSegmentBytes. Segment 0 holds the Header and, behind it,
// the segment directory: one word for each segment, which says what the segment holds. All
// records of one kind form an array: record i lives in the segment of that kind whose ordinal is
// i / records-per-segment. A segment is reserved on disk before its directory word is written.
//
// Concurrency. Many threads of the process write, any number of other processes read, and the
// writer may be stopped or killed between any two instructions. So no record depends on another one
// being complete: each carries one word that is written last and says whether the rest may be
// believed.
//   1. Node, StackRecord and LabelRecord are append-only: valid once `pc_module` (respectively
//      `node`, `valid`) is not 0.
//   2. LiveRecord, MappingRecord, TimelineRecord, AllocatorStatistics and ProcessMemory carry a
//      sequence word: 0 free, odd being written, even valid. A reader copies the record, reads the
//      word again and skips the record if it changed or is odd.
//   3. Totals and per-stack counters are independent: each is right by itself, no two are a
//   snapshot.
//   4. The parent of a node or of a label set has a smaller index, so a walk to the root ends.
//   5. The two peak buffers take turns; `Header::peak_current` names the complete one.
// Readers treat every value as hostile. The agent acts on nothing it reads back but `Control`,
// within bounds.
//
// Byte order is the machine's (little-endian on all supported ones).
#pragma once

#include <cstddef>
#include <cstdint>

#include "wire/leak_control.h"
#include "wire/trace_buffer.h"

namespace heapgauge::wire {

inline constexpr char kMagic[8] = {'H', 'G', 'A', 'U', 'G', 'E', '\r', '\n'};
inline constexpr uint32_t kVersion = 5;
// Readers still know it: without labels, pools (3), traces (4) and leak checks (5), and otherwise
// the same.
inline constexpr uint32_t kOldestVersion = 2;

inline constexpr uint32_t kSegmentBytes = 64 * 1024;
inline constexpr uint32_t kMaxSegments = 8192;  // 512 MiB
inline constexpr uint32_t kHeaderBytes = 8192;  // the directory follows

inline constexpr uint64_t kDefaultIntervalBytes = 512 * 1024;
inline constexpr uint64_t kMaxIntervalBytes = uint64_t{1} << 40;
inline constexpr uint32_t kDefaultMaxSamplesPerSecond = 4000;

inline constexpr uint32_t kMaxFrames = 512;  // of one stack; outer frames beyond are cut off

enum class SegmentKind : uint32_t {
  kUnused = 0,
  kHeader = 1,
  kModules = 2,
  kNodes = 3,
  kStacks = 4,
  kLive = 5,
  kPeak0 = 6,
  kPeak1 = 7,
  kTimeline = 8,
  kMappings = 9,
  kNames = 10,  // of a saved file: its functions and lines, see docs/formats/gauge.md
  kLabels = 11,
  kPoolLive = 12,
  kTrace = 13,  // buffers of an exact trace, see trace_buffer.h
};
inline constexpr uint32_t kSegmentKinds = 14;

// A directory word: kind in the low 8 bits, ordinal among the segments of that kind above.
constexpr uint32_t DirectoryWord(SegmentKind kind, uint32_t ordinal) {
  return static_cast<uint32_t>(kind) | ordinal << 8;
}
constexpr uint32_t DirectoryKind(uint32_t word) { return word & 0xff; }
constexpr uint32_t DirectoryOrdinal(uint32_t word) { return word >> 8; }

enum class Allocator : uint32_t {
  kUnknown = 0,
  kGlibc = 1,
  kJemalloc = 2,
  kTcmalloc = 3,
  kMimalloc = 4,
};

// Why a sample that was due is not in the file.
enum class Loss : uint32_t {
  kNoRoom = 0,     // the file may not grow: disk full, limit, directory gone, seccomp
  kTableFull = 1,  // an index reached its largest size
  kBusy = 2,       // another thread changed the list of modules and did not finish in time
  kMapping = 3,    // of a mapping, not of a block: its table was busy or full
};
inline constexpr uint32_t kLossKinds = 8;

// What other processes may ask of the agent. A change is announced by adding 1 to `generation`
// after the other words are written; the agent picks it up at its next sample (at its next calloc
// or realloc while it has never been active) and copies the number to Header::seen_generation.
struct Control {
  uint32_t generation;
  uint32_t active;                  // 0 or 1
  uint64_t interval;                // mean bytes between samples; 0 is taken as 1
  uint32_t max_samples_per_second;  // 0: no cap
  uint32_t reset_requests;          // adding 1 asks for one reset
  uint32_t statistics_requests;     // adding 1 asks for fresh AllocatorStatistics
  uint32_t trace_requests;  // of the recorder of a trace: adding 1 asks it to write what it has
};
static_assert(sizeof(Control) == 32);

// Sums since the start or the last reset. The estimates are weighted, see docs/sampling.md.
struct Totals {
  uint64_t samples;            // taken
  uint64_t samples_freed;      // of these, freed again
  uint64_t live_samples;       // at this moment
  uint64_t live_bytes;         // estimate
  uint64_t live_objects;       // estimate
  uint64_t allocated_bytes;    // estimate
  uint64_t allocated_objects;  // estimate
  uint64_t freed_bytes;        // estimate
  uint64_t freed_objects;      // estimate
  uint64_t truncated_walks;    // stacks that did not reach their outermost frame
  uint64_t lost[kLossKinds];   // by Loss
  uint64_t lost_bytes;         // estimate of what the lost samples stood for
};
static_assert(sizeof(Totals) == 152);

struct PeakInfo {
  uint64_t time_ns;       // since Header::start_monotonic_ns
  uint64_t live_bytes;    // estimate
  uint64_t live_objects;  // estimate
  uint32_t count;         // PeakRecords in this buffer
  uint32_t reserved;
};
static_assert(sizeof(PeakInfo) == 32);

// What the allocator says of itself. Asked for only on request (Control::statistics_requests): some
// allocators walk all their free blocks for it, under their locks.
struct AllocatorStatistics {
  uint64_t state;           // sequence word; 0: never taken
  uint64_t time_ns;         // when
  uint64_t mapped_bytes;    // address space it holds from the kernel, without what it gave back
  uint64_t resident_bytes;  // of that in memory, as it believes; 0 unknown
  uint64_t in_use_bytes;    // of blocks that the program holds, rounded up as it does
  uint64_t free_bytes;      // kept for reuse in central lists, caches of threads not included
  uint64_t cached_bytes;    // kept for reuse in caches of threads; 0 where not told apart
  uint64_t metadata_bytes;  // its own book-keeping; 0 where not told apart
  uint32_t arenas;          // 0 unknown
  uint32_t requests;        // Control::statistics_requests this answers
  uint32_t mask;            // which of the figures above it has, bit 0 = mapped_bytes, in order
  uint32_t reserved;
};
static_assert(sizeof(AllocatorStatistics) == 80);

// The process as the kernel accounts for it, by whoever was there: the agent for a dump, `run` and
// its like from outside. 0 is unknown.
struct ProcessMemory {
  uint64_t state;  // sequence word; 0: never taken
  uint64_t time_ns;
  uint64_t resident_bytes;
  uint64_t anonymous_bytes;  // of the resident ones
  uint64_t file_bytes;
  uint64_t shared_bytes;
  uint64_t swapped_bytes;
  uint64_t cgroup_bytes;  // without file pages, which go before anybody is killed
  uint64_t cgroup_limit;  // of the group above the process that has the least room
  uint64_t address_space_bytes;
  uint64_t address_space_limit;  // RLIMIT_AS; or RLIMIT_DATA, and what it counts, if that is nearer
};
static_assert(sizeof(ProcessMemory) == 88);

// Why a copy of the file was made.
enum class DumpReason : uint32_t {
  kNone = 0,       // not a dump
  kRequest = 1,    // somebody asked, such as `ctl dump`
  kExit = 2,       // the program ended
  kAllocated = 3,  // so many bytes were allocated since the last one
  kGrowth = 4,     // live memory rose by so many bytes over the highest at a dump before
  kTime = 5,       // so many seconds passed
  kLimit = 6,      // resident memory, cgroup usage or address space came near to its limit
};

// As file names and reports have it.
constexpr const char* DumpReasonName(DumpReason reason) {
  constexpr const char* kNames[] = {"none",   "request", "exit", "allocated",
                                    "growth", "time",    "limit"};
  const auto index = static_cast<uint32_t>(reason);
  return index < sizeof kNames / sizeof *kNames ? kNames[index] : "other";
}

// In a dump: which one it is. In the file of a running program: the last one that was made.
struct DumpInfo {
  uint32_t sequence;  // from 1; 0 none
  uint32_t reason;    // DumpReason
  uint64_t time_ns;
  uint32_t failures;    // dumps that could not be written
  uint32_t last_error;  // errno of the last failure
};
static_assert(sizeof(DumpInfo) == 24);

// Memory that the agent has mapped for itself. Neighbours are one range.
struct AgentRange {
  uint64_t start;
  uint64_t end;  // 0 until the rest is written
};
inline constexpr uint32_t kMaxAgentRanges = 64;

struct Header {
  char magic[8];  // written last: a file without it was never finished
  uint32_t version;
  uint32_t segment_bytes;
  uint32_t max_segments;
  uint32_t header_bytes;
  uint32_t module_bytes;  // sizes of the records, so that later versions can add fields
  uint32_t node_bytes;
  uint32_t stack_bytes;
  uint32_t live_bytes;
  uint32_t peak_bytes;
  uint32_t timeline_bytes;
  uint32_t mapping_bytes;
  uint32_t names_bytes;  // length of the names in kNames segments, 0 none

  // Who.
  uint32_t pid;
  uint32_t parent_pid;
  uint32_t uid;
  uint32_t allocator;            // Allocator
  uint64_t process_start_ticks;  // field 22 of /proc/PID/stat, tells a reused pid; 0 unknown
  uint64_t start_realtime_ns;    // Unix time at which the clock of this file began
  uint64_t start_monotonic_ns;   // CLOCK_MONOTONIC then; all other times count from here. A forked
                                 // child goes on with its parent's clock
  uint64_t ended_ns;             // 0, or when the program ended in good order
  uint32_t forked;               // 1: made by a forked child that did not exec
  uint32_t follows_exec;         // 1: programs that this one executes are profiled as well

  // State.
  uint32_t active;
  uint32_t seen_generation;      // last Control::generation that was taken into account
  uint32_t resets;               // carried out
  uint32_t segment_count;        // directory words written, segment 0 included
  uint64_t interval;             // asked for
  uint64_t interval_in_force;    // larger than `interval` while the cap on samples works
  uint64_t reset_ns;             // live records born before are not reported; 0 never reset
  uint64_t agent_private_bytes;  // memory of the agent outside this file
  uint32_t module_count;         // upper bounds: records above were never written
  uint32_t node_count;
  uint32_t stack_count;
  uint32_t live_count;
  uint32_t timeline_ticks;  // how many were ever written at level 0
  uint32_t peak_current;    // 0 none, 1 peak[0] and kPeak0, 2 peak[1] and kPeak1
  uint64_t last_tick_ns;
  uint32_t command_line_bytes;
  uint32_t mapping_count;
  uint32_t hooks_mappings;  // 1: mmap and its kin are recorded
  uint32_t is_copy;         // 1: a dump, which `dump` tells about; nobody writes it any more

  Control control;
  Totals totals;
  PeakInfo peak[2];
  DumpInfo dump;
  AllocatorStatistics statistics;
  ProcessMemory memory;

  char allocator_path[512];  // of the object whose malloc is called; NUL-terminated, as all texts
  char agent_version[32];
  char exe[1024];
  char command_line[2048];  // arguments, each ended by NUL, command_line_bytes in all

  uint32_t agent_range_count;  // at most kMaxAgentRanges
  uint32_t agent_ranges_lost;  // ranges there was no room for
  AgentRange agent_ranges[kMaxAgentRanges];

  // From version 3 on.
  uint32_t label_bytes;
  uint32_t label_count;  // upper bounds, as those above
  uint32_t pool_live_count;
  uint32_t recorder_pid;  // of who was to record this trace, as the program was told; 0 unknown

  // From version 4 on.
  TraceControl trace;

  // From version 5 on.
  LeakControl leaks;
  // By the recorder of a trace: up to this one of Control::trace_requests, all that had happened
  // when it was made is in the trace.
  uint32_t trace_answers;
  // By the recorder of a trace: not 0 once it records no more while the program goes on. Nobody
  // will empty buffers or answer questions. A recorder from before this word leaves it 0.
  uint32_t trace_over;
  // The pid namespace in which `pid` is the number of the process: inode of /proc/PID/ns/pid. 0
  // unknown, and from agents before this word.
  uint64_t pid_namespace;
  // How often this file could not grow because the program had no file descriptor left (EMFILE).
  uint64_t growths_without_descriptor;
};
static_assert(sizeof(Header) <= kHeaderBytes);
static_assert(kHeaderBytes + kMaxSegments * sizeof(uint32_t) <= kSegmentBytes);

// The bytes of the file that those who ask for a picture hold a shared lock on (leak_control.h).
inline constexpr uint64_t kAskerLockOffset = offsetof(Header, leaks);
inline constexpr uint64_t kAskerLockBytes = sizeof(LeakControl);

// Says in a header what the file is laid out like: version and sizes.
inline void DescribeLayout(Header* header);

// An object that some stack leads through. Never forgotten: after dlclose its record stays, for the
// nodes that name it. Ranges may overlap, since another object may have been loaded there at
// another time.
struct ModuleRecord {
  uint64_t start;  // 0 until the rest is written
  uint64_t end;
  uint64_t load_bias;  // pc - load_bias is the address in the object's ELF file
  uint32_t loaded;     // 1 while it is in its place
  uint32_t reserved;
  uint32_t build_id_bytes;  // 0 to 32
  uint32_t flags;           // kModulePathCut
  uint8_t build_id[32];
  // As the dynamic linker names it; where that is relative, as the kernel does. The main program's
  // is its /proc/self/exe.
  char path[928];
  // Its code as the kernel lists it in /proc/PID/maps, for tools that go by that: whole pages, and
  // where they are in the file. All 0 if it has none or several such segments, and before
  // version 3.
  uint64_t code_start;
  uint64_t code_end;
  uint64_t code_offset;
};
static_assert(sizeof(ModuleRecord) == 1024);
inline constexpr uint32_t kModulePathCut = 1;

// One call site in the trie of stacks. Node 0 is the root and holds no pc. The address is a return
// address, except for the one frame that a signal interrupted (kNodeExactPc).
struct NodeRecord {
  uint64_t pc_module;  // pc in the low 48 bits, index of its module plus 1 above; 0 not written
  uint32_t parent;     // the caller's node
  uint32_t flags;
};
static_assert(sizeof(NodeRecord) == 16);
inline constexpr uint32_t kNodeExactPc = 1;
// The walk ended at this node before the outermost frame (no unwind rule, or too many frames).
inline constexpr uint32_t kNodeTruncated = 2;

// `module` is the index plus 1, or 0 for code that belongs to no object.
constexpr uint64_t PackPc(uint64_t pc, uint32_t module) {
  return (pc & 0xffffffffffff) | uint64_t{module} << 48;
}
constexpr uint64_t NodePc(uint64_t pc_module) { return pc_module & 0xffffffffffff; }
constexpr uint32_t NodeModule(uint64_t pc_module) { return static_cast<uint32_t>(pc_module >> 48); }

// One set of labels: the parent's, and one more label. Set 0 has none. The label that was added
// last counts where a key is there twice.
struct LabelRecord {
  uint32_t valid;   // 0 until the rest is written
  uint16_t parent;  // set that this one extends
  uint16_t depth;   // labels down to the root, this one included
  uint16_t key_bytes;
  uint16_t value_bytes;
  uint16_t flags;        // kLabelThreadName
  uint16_t thread_name;  // the set at the root of this one that is a thread's name, 0 none
  char key[48];          // NUL-terminated, like the value
  char value[192];
};
static_assert(sizeof(LabelRecord) == 256);
inline constexpr uint16_t kLabelThreadName = 1;
inline constexpr uint32_t kMaxLabelSets = 65535;
inline constexpr uint32_t kMaxLabelDepth = 32;

// Cumulative counters of one distinct stack under one set of labels. Stack 0 is not used. Doubles
// are plain IEEE values that are added to atomically. `allocated_variance` is the estimated
// variance of `allocated_bytes`.
struct StackRecord {
  uint32_t node;    // leaf; 0 until the record may be read
  uint16_t flags;   // kStackOf*
  uint16_t labels;  // LabelRecord, 0 none
  uint64_t samples;
  uint64_t sampled_bytes;  // of the samples themselves, as requested
  double allocated_objects;
  double allocated_bytes;
  double allocated_variance;
  double freed_objects;
  double freed_bytes;
};
static_assert(sizeof(StackRecord) == 64);
// Counts mappings (mmap), not blocks of the allocator. They are all recorded, none is sampled.
inline constexpr uint16_t kStackOfMappings = 1;
// Counts blocks of a pool that the program reports. They lie within blocks of the allocator, or
// within mappings, and are no part of the heap's figures.
inline constexpr uint16_t kStackOfPool = 2;

// One sampled block that the program has not freed: of the allocator (kLive), or of a pool within
// such blocks (kPoolLive). The weight follows from `size` and `interval`:
// with p = 1 - exp(-size / interval) it stands for 1/p objects and size/p bytes.
struct LiveRecord {
  uint64_t state;  // sequence word
  uint64_t address;
  uint64_t size;      // as requested
  uint64_t interval;  // in force when it was sampled
  uint64_t birth_ns;
  uint64_t usable;  // as the allocator rounds it
  uint32_t stack;
  uint32_t thread;    // kernel thread id, 0 unknown
  uint32_t flags;     // kLiveInherited, kLiveStandIn; the number of its pool above kLivePoolShift
  uint32_t function;  // Function
};
static_assert(sizeof(LiveRecord) == 64);
inline constexpr uint32_t kLiveInherited =
    1;                                       // was live in the parent when this process was forked
inline constexpr uint32_t kLiveStandIn = 2;  // a page of its own stands in for a small block
inline constexpr uint32_t kLivePoolShift = 16;

// A range that the program mapped and has not unmapped. What munmap leaves of a larger one keeps
// stack and time; a range cut in two makes two records.
struct MappingRecord {
  uint64_t state;  // sequence word
  uint64_t address;
  uint64_t length;
  uint64_t birth_ns;
  uint32_t stack;       // its StackRecord has kStackOfMappings
  uint32_t thread;      // kernel thread id, 0 unknown
  uint32_t protection;  // as given to mmap
  uint32_t map_flags;   // as given to mmap
  uint32_t flags;       // kMapping*
  uint32_t reserved[3];
};
static_assert(sizeof(MappingRecord) == 64);
inline constexpr uint32_t kMappingOfAllocator = 1;  // asked for by the allocator itself
inline constexpr uint32_t kMappingInherited = 2;    // from the parent process

// Through which function a block was asked for.
enum class AllocationFunction : uint32_t {
  kMalloc = 0,
  kCalloc = 1,
  kRealloc = 2,
  kAligned = 3,  // memalign and its kin
  kNew = 4,
  kNewArray = 5,
  kMallocx = 6,  // jemalloc's own interface
  kPool = 7,     // of the program's own, which reports it
};

struct PeakRecord {
  uint32_t stack;
  float interval;
  uint64_t size;
};
static_assert(sizeof(PeakRecord) == 16);

// Totals at one moment. Level k of kTimelineLevels is a ring of kTimelineSlots records that gets
// every 16^k-th tick, so that the file holds the last minutes by the second and the last days by
// the hour. Record index: level * kTimelineSlots + (tick >> 4 * level) % kTimelineSlots.
struct TimelineRecord {
  uint64_t state;  // sequence word
  uint64_t time_ns;
  uint64_t live_bytes;
  uint64_t live_objects;
  uint64_t allocated_bytes;
  uint64_t freed_bytes;
  uint64_t resident_bytes;  // 0 where the tick was taken inside the process
  uint64_t samples;
};
static_assert(sizeof(TimelineRecord) == 64);
inline constexpr uint32_t kTimelineLevels = 4;
inline constexpr uint32_t kTimelineSlots = 256;
inline constexpr uint64_t kTickNs = 1'000'000'000;
static_assert(kTimelineLevels * kTimelineSlots * sizeof(TimelineRecord) == kSegmentBytes);

inline void DescribeLayout(Header* header) {
  header->version = kVersion;
  header->segment_bytes = kSegmentBytes;
  header->max_segments = kMaxSegments;
  header->header_bytes = kHeaderBytes;
  header->module_bytes = sizeof(ModuleRecord);
  header->node_bytes = sizeof(NodeRecord);
  header->stack_bytes = sizeof(StackRecord);
  header->live_bytes = sizeof(LiveRecord);
  header->peak_bytes = sizeof(PeakRecord);
  header->timeline_bytes = sizeof(TimelineRecord);
  header->mapping_bytes = sizeof(MappingRecord);
  header->label_bytes = sizeof(LabelRecord);
}

constexpr uint32_t RecordsPerSegment(size_t record_bytes) {
  return static_cast<uint32_t>(kSegmentBytes / record_bytes);
}

}  // namespace heapgauge::wire
