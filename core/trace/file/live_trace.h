// The trace that is being written of a program that runs (`run --trace`). Its gauge file says that
// every call is recorded, and nothing of where; whoever records it has the trace open.
//
// Any thread. Reads /proc, gauge file and traces.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace heapgauge::trace {

// When the recording began (CLOCK_MONOTONIC), if all calls of the program that a gauge file is of
// are recorded at present. Its samples then tell nothing.
std::optional<uint64_t> TracedSince(const std::string& gauge_path);

// Whether its recorder gives signs of life, as it does ten times a second. Waits for one, a second
// at most.
bool IsBeingRecorded(const std::string& gauge_path);

// The trace of that program, which a `heapgauge` of this host has open. "" if there is none, or if
// it may not be seen; that takes a second.
std::string FindLiveTrace(const std::string& gauge_path);

// Asks the recorder to write what it has; true once all that has happened up to now is in the
// trace. One that cannot be asked writes once a second, or after ten seconds where little happens.
bool HaveTraceWritten(const std::string& gauge_path);

}  // namespace heapgauge::trace
