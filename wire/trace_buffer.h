// Buffers of an exact trace, within the gauge file: each segment of kind kTrace is one buffer,
// which one thread of the program fills with events and a recorder outside of it empties.
//
// Life of a buffer. The agent takes it (`round` grows by one), appends events and moves `position`
// behind each, and closes it when the next event does not fit. The recorder reads up to `position`,
// and when it has read all of a closed round it writes that round into `released`; then the agent
// may take it again. The recorder also releases what a thread left open that is no more.
//
// Order. Events of one buffer are in order of time. An event is stamped while `position` is odd:
// the thread sets the lowest bit, reads the clock, writes the event, and stores the new, even
// position. A recorder that finds all positions even some microseconds after a moment T has seen
// every event up to T; one that finds an odd one knows that this thread's next event is later than
// its last. A free is stamped before the allocator gets the block back, an allocation after it was
// handed out and before the program has it: so for each address the stamps are in the true order,
// with one exception. For a kAllocate the processor may read the clock ahead of what is in front of
// it, if that waits for memory: then the stamp may be that of a moment, less than a microsecond
// before, when the block that was there had not yet been freed by another thread.
//
// The end. A recorder that stops before the program does says so in Header::trace_over, then wakes
// those that wait; the program traces no more from its next full buffer on. If it cannot say so, or
// the program does not know the word, that one notices by the lack of signs of life.
//
// Neither side trusts the other: the agent keeps its positions in private memory and takes nothing
// from here but `released`, Header::trace_over and the words of TraceControl, within bounds; the
// recorder checks all it reads.
#pragma once

#include <cstdint>

namespace heapgauge::wire {

enum class TraceClock : uint32_t {
  kMonotonicNs = 0,   // CLOCK_MONOTONIC
  kCycleCounter = 1,  // the processor's, where the kernel itself goes by it
};

// In the gauge file's Header.
struct TraceControl {
  // By the agent.
  uint32_t tracing;      // 1: this process records every call
  uint32_t clock;        // TraceClock
  uint32_t max_buffers;  // it makes no more, unless threads hold them all; then this grows
  uint32_t drops;        // 1: events without room are lost; 0: the thread waits
  uint32_t waiting;      // threads that wait for a buffer now
  uint32_t gave_up;      // 1: nobody emptied the buffers any more; tracing is over
  uint64_t lost;         // events that found no room
  uint64_t waits;        // how often a thread had to wait
  uint64_t waited_ns;    // and how long, all threads together
  // By the recorder.
  uint32_t beat;      // grows at least every 100 ms while there is one
  uint32_t releases;  // grows after buffers were released: the word that threads wait on (futex)
};
static_assert(sizeof(TraceControl) == 56);

struct TraceBufferHeader {
  uint32_t round;     // how often it was taken, from 1; written after the other words were set
  uint32_t position;  // bytes used, this header included; odd while an event is being added
  uint32_t closed;    // the round that is complete
  uint32_t thread;    // kernel id of the thread that fills it; 0: it may not ask (seccomp)
  uint64_t token;     // a number of its own for each thread that ever was, in order of appearance
  uint64_t name[2];   // of the thread at its first event, as PR_GET_NAME tells; 0 unknown
  uint64_t reserved[3];
  // By the recorder; a cache line of its own.
  uint32_t released;  // the last round that was read to its end
  uint32_t reserved_too[15];
};
static_assert(sizeof(TraceBufferHeader) == 128);

enum class TraceEventKind : uint8_t {
  kNone = 0,
  kAllocate = 1,      // TraceAllocation
  kFree = 2,          // TraceFree
  kResizeBegin = 3,   // TraceFree: the block may go away; before the allocator is asked
  kResizeEnd = 4,     // TraceAllocation: what became of the block of the same thread's last begin
  kResizeFailed = 5,  // TraceFree: it is still there
  kMap = 6,           // TraceAllocation: mmap
  kUnmap = 7,         // TraceAllocation: munmap of `size` bytes, or what mremap takes away
};

// Whether the stamp may be a little too early.
constexpr bool MayBeEarly(TraceEventKind kind) { return kind == TraceEventKind::kAllocate; }

// `what` of both: the address in the low 56 bits, the kind above.
constexpr uint64_t PackTraceWhat(TraceEventKind kind, uint64_t address) {
  return (address & 0xff'ffff'ffff'ffff) | uint64_t{static_cast<uint8_t>(kind)} << 56;
}
constexpr TraceEventKind TraceKindOf(uint64_t what) {
  return static_cast<TraceEventKind>(what >> 56);
}
constexpr uint64_t TraceAddressOf(uint64_t what) { return what & 0xff'ffff'ffff'ffff; }

struct TraceFree {
  uint64_t time;  // TraceClock
  uint64_t what;
};
static_assert(sizeof(TraceFree) == 16);

struct TraceAllocation {
  uint64_t time;
  uint64_t what;
  uint64_t size;           // as requested
  uint32_t stack;          // StackRecord of the gauge file, written before; 0: could not be kept
  uint16_t slack;          // usable size minus size, at most 65535
  uint8_t function;        // Function
  uint8_t alignment_log2;  // that was asked for; 0 none
};
static_assert(sizeof(TraceAllocation) == 32);

constexpr uint32_t TraceEventBytes(TraceEventKind kind) {
  switch (kind) {
    case TraceEventKind::kFree:
    case TraceEventKind::kResizeBegin:
    case TraceEventKind::kResizeFailed:
      return sizeof(TraceFree);
    case TraceEventKind::kAllocate:
    case TraceEventKind::kResizeEnd:
    case TraceEventKind::kMap:
    case TraceEventKind::kUnmap:
      return sizeof(TraceAllocation);
    default:
      return 0;  // no event
  }
}

}  // namespace heapgauge::wire
