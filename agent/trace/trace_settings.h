// What the environment asks of an exact trace (docs/settings.md), and whether the recorder that it
// names still runs. Values only; allocation-free.
#pragma once

#include <cstdint>

#include "wire/gauge_format.h"

namespace heapgauge::agent {

struct TraceSettings {
  static constexpr uint64_t kLeastBytes = uint64_t{1} << 20;
  static constexpr uint64_t kMostBytes = uint64_t{256} << 20;

  bool on = false;                                          // HEAPGAUGE_TRACE
  bool drops = false;                                       // HEAPGAUGE_TRACE_DROP
  bool follows_fork = false;                                // HEAPGAUGE_TRACE_FORK
  wire::TraceClock clock = wire::TraceClock::kMonotonicNs;  // HEAPGAUGE_TRACE_CLOCK
  bool checks_leaks = false;  // HEAPGAUGE_LEAKS: at the end, and where the program asks
  // HEAPGAUGE_LEAKS_FREERES: whether libraries free what they hold to the end, before.
  enum class Freeing : uint8_t { kNever, kIfAlone, kAlways };
  Freeing freeing = Freeing::kIfAlone;
  uint64_t buffer_bytes = uint64_t{16} << 20;  // HEAPGAUGE_TRACE_BUFFER
  uint32_t recorder_pid = 0;                   // HEAPGAUGE_TRACE_RECORDER: for the header
  uint64_t recorder_namespace = 0;  // HEAPGAUGE_TRACE_NAMESPACE: of that number; 0 unknown
  // How long the buffers may stay full, with no sign of life from a recorder, before tracing ends.
  uint64_t patience_ns = 5'000'000'000;

  uint32_t max_buffers() const {
    const uint64_t bytes = buffer_bytes < kLeastBytes  ? kLeastBytes
                           : buffer_bytes > kMostBytes ? kMostBytes
                                                       : buffer_bytes;
    return static_cast<uint32_t>(bytes / wire::kSegmentBytes);
  }
};

// From the variables; one that cannot be understood leaves the default in force.
TraceSettings ReadTraceSettings(char** environment);

// Whether the recorder that a program was told of is gone: one that starts after that need not wait
// for somebody to empty its buffers. False as well where that cannot be told: in another pid
// namespace than the recorder's its number is that of nobody, or of somebody else. Two system
// calls; async-signal-safe.
bool IsRecorderGone(const TraceSettings& settings);

}  // namespace heapgauge::agent
