// How long work says how far it is. Readers and the symbolizer call it; who listens decides whether
// and how often anything is shown, so calls may be frequent.
//
// Report() may be called from one thread at a time.
#pragma once

#include <cstdint>
#include <string_view>

namespace heapgauge {

class ProgressSink {
 public:
  virtual ~ProgressSink() = default;
  // "reading names of libLLVM-14.so.1", 12000, 37000, "addresses". A total of 0 is not known.
  virtual void Report(std::string_view what, uint64_t done, uint64_t total,
                      std::string_view unit) = 0;
};

}  // namespace heapgauge
