// Who looks for leaks in the programs that a Recorder records, and how it is asked. The Recorder
// knows all live blocks of a program at every moment; what is lost among them is not its business.
//
// All functions are called by the recorder's thread.
#pragma once

#include <cstdint>

#include "core/model/recording.h"
#include "wire/leak_control.h"

namespace heapgauge::trace {

class ProcessRecorder;

// What the program has counted up to now, realloc as an allocation and a free.
struct HeapUsage {
  uint64_t allocations = 0;
  uint64_t frees = 0;
  uint64_t allocated_bytes = 0;
};

// A program asks for a check (wire/leak_control.h), as it was read: nothing of it can be trusted.
struct LeakQuestion {
  wire::CheckReason reason = wire::CheckReason::kNone;
  uint32_t number = 0;
  uint32_t thread = 0;         // the one that asks, which waits; its number here
  uint64_t since_ns = 0;       // only blocks born after are of interest; 0: all
  uint64_t stack_pointer = 0;  // where the stack of that thread begins for the program
};

struct LeakAnswer {
  uint32_t error = 0;  // errno: it could not be done
  uint64_t lost_blocks = 0;
  uint64_t lost_bytes = 0;
  uint64_t possible_blocks = 0;
  uint64_t possible_bytes = 0;
  uint64_t live_blocks = 0;
  uint64_t live_bytes = 0;
};

class LeakWatch {
 public:
  virtual ~LeakWatch() = default;
  // Others of its threads may run. `recorder` may be told to CatchUp once they are stopped.
  virtual LeakAnswer Look(ProcessRecorder* recorder, const LeakQuestion& question,
                          const HeapUsage& usage) = 0;
  // The program is gone, or another one goes on in its process (kReplaced). All events were read.
  virtual void Ended(ProcessRecorder* recorder, RecordingState state, const HeapUsage& usage) = 0;
};

}  // namespace heapgauge::trace
