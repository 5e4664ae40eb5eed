// A copy of the program that its agent forks, for those who look for leaks and may not trace the
// program (wire/leak_control.h). It does nothing but stand still: it runs no code of the program's,
// and ends when it is told to, within a second of the end of who asked, or after a minute. None is
// made if that one is gone already.
//
// The program does not notice. The copy is a child that sends no signal and that wait() does not
// see; no handler of pthread_atfork runs; the copy closes its own files at once, so that it holds
// no connection open. It lets anybody of the same user read its memory. The next request ends it if
// that has not happened yet, and one of those that follow waits for it when it has ended: no call
// here blocks.
//
// Other threads run on while memory is copied, as with every fork: what moves just then may be seen
// in neither place.
//
// Any thread; allocation-free. No signal handler runs in between. Zero-initialised.
#pragma once

#include <atomic>
#include <cstdint>

#include "agent/sys/try_lock.h"
#include "agent/table/gauge_file.h"

namespace heapgauge::agent {

class OwnCopy {
 public:
  // An odd number of requests asks for a copy, another number ends it.
  void Follow(const GaugeFile& file);
  // In a forked child: what the parent has made is not its own.
  void Forget();

 private:
  static constexpr int kMostCopies = 8;  // that have not been waited for

  void EndOld();
  void Fork(const GaugeFile& file, uint32_t request);

  TryLock busy_;
  uint32_t seen_ = 0;
  long children_[kMostCopies] = {};
};

}  // namespace heapgauge::agent
