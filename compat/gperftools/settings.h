// What gperftools' variables ask of the heap profiler.
//
// Numbers as it reads them: strtoll, so "0x100000" counts and what is no number is 0. Flags: a
// first letter of "tTyY1" or nothing at all.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace heapgauge::compat {

struct HeapProfilerSettings {
  std::string prefix;                                // HEAPPROFILE; "" do not start
  bool use_pid = false;                              // HEAPPROFILE_USE_PID
  int signal = 0;                                    // HEAPPROFILESIGNAL
  uint64_t allocation_interval = uint64_t{1} << 30;  // HEAP_PROFILE_ALLOCATION_INTERVAL
  uint64_t deallocation_interval = 0;                // HEAP_PROFILE_DEALLOCATION_INTERVAL
  uint64_t inuse_interval = uint64_t{100} << 20;     // HEAP_PROFILE_INUSE_INTERVAL
  uint64_t time_interval = 0;                        // HEAP_PROFILE_TIME_INTERVAL, seconds
  bool with_mmap = false;                            // HEAP_PROFILE_MMAP
  bool only_mmap = false;                            // HEAP_PROFILE_ONLY_MMAP
  bool log_mmap = false;                             // HEAP_PROFILE_MMAP_LOG
  bool cleanup = true;                               // HEAP_PROFILE_CLEANUP
  int64_t verbose = 0;                               // PERFTOOLS_VERBOSE
  uint64_t sample_parameter = 0;                     // TCMALLOC_SAMPLE_PARAMETER
};

// `value` gives a variable's text, or null.
HeapProfilerSettings ReadHeapProfilerSettings(const std::function<const char*(const char*)>& value);

}  // namespace heapgauge::compat
