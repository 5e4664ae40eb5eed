// Asks the recorder of an exact trace for a leak check of this process, and waits for the answer:
// at the end of the program, or of a scope in it (wire/leak_control.h).
//
// The wait is bounded: it goes on as long as the recorder shows signs of life, and never for more
// than ten minutes. One check at a time: threads take turns, and the last check of the process
// comes before all others. Allocation-free, async-signal-safe.
#pragma once

#include <cstdint>

#include "wire/gauge_format.h"
#include "wire/leak_control.h"

namespace heapgauge::agent {

// The header through which this process asks for a check; nullptr if nobody is to be asked.
using HeaderToAsk = wire::Header*();

struct CheckQuestion {
  wire::CheckReason reason = wire::CheckReason::kNone;
  uint64_t since = 0;           // TraceClockReader
  uintptr_t stack_pointer = 0;  // what lies below is ours
};

enum class CheckAnswer {
  kDone,
  kNobody,   // there is no recorder, or none any more
  kRefused,  // it could not look; `words->check_error` tells why
  kBusy,     // another thread's check takes too long, or a signal handler has interrupted one
};
// Copies the words of the answer. Waits for its turn first, for a minute at the most. `header` is
// called before each try: whether anybody is to be asked may change meanwhile. REQUIRES: it gives
// one now, and system calls are not frozen.
CheckAnswer AskForCheck(HeaderToAsk* header, const CheckQuestion& question,
                        wire::LeakControl* words);

}  // namespace heapgauge::agent
