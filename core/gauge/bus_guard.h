// Keeps a mapped file that somebody else cuts short from killing us.
//
// A page of a mapping that lies beyond the end of its file raises SIGBUS. While a BusGuard is there
// for a mapping, such a page is replaced by one of zeros and the guard remembers that it was
// needed; the reader then sees nonsense, which it has to expect anyway. Faults elsewhere end the
// process as they would without it.
//
// The handler is installed with the first guard and stays. Guards may be made and destroyed by any
// thread; at most kMaxGuards at a time, further ones do nothing.
#pragma once

#include <cstddef>

namespace heapgauge::trace {

class BusGuard {
 public:
  static constexpr int kMaxGuards = 256;

  BusGuard() = default;
  BusGuard(void* start, size_t size);
  ~BusGuard();
  BusGuard(BusGuard&& other) noexcept;
  BusGuard& operator=(BusGuard&& other) noexcept;
  BusGuard(const BusGuard&) = delete;
  BusGuard& operator=(const BusGuard&) = delete;

  // True once a page had to be replaced: the file was cut.
  bool was_needed() const;

 private:
  int index_ = -1;
};

}  // namespace heapgauge::trace
