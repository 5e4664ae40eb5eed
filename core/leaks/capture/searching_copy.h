// Has a copy of a program search its own memory for words in a range of values. Reading the memory
// from outside means copying all of it, page by page by the kernel; the copy has it mapped, and
// tells only of the few words that matter.
//
// A small piece of code (search_code_ARCH.S) is put into memory that the copy is made to map, and
// run by the one thread that it has. It touches nothing else, so the copy stays what it was. The
// copy is stopped whenever it does not search; a signal that it gets is forgotten.
//
// To be used by the thread that traces the copy.
#ifndef HEAPGAUGE_CORE_LEAKS_CAPTURE_SEARCHING_COPY_H_
#define HEAPGAUGE_CORE_LEAKS_CAPTURE_SEARCHING_COPY_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/address_range.h"
#include "core/leaks/capture/machine.h"

namespace heapgauge::leaks {

class SearchingCopy {
 public:
  // How many ranges can be given, and words found, at a time: little enough to stay in caches.
  static constexpr size_t kMostRanges = 4096;
  static constexpr size_t kMostWords = 32 * 1024;

  // To be called first; `copy` is stopped. False if it does not do as it is told.
  bool Attach(pid_t copy, const CallSite& site);
  // The copy has no open files from here on; what the program has is its own. Kernels before 5.9
  // cannot do that: then it stays as it was. REQUIRES: Attach was true.
  void CloseFiles();
  // Whether it can search: Attach was true, the processor has what the code needs, and there is
  // room for it.
  bool Prepare();

  // Aligned words of `ranges` with values in [low, low + span) are to be found. REQUIRES: Prepare
  // was true; no more than kMostRanges, all within 32 GiB from `base`; low + span < 2^63.
  bool Begin(const std::vector<AddressRange>& ranges, uint64_t base, uint64_t low, uint64_t span);

  enum class Stop {
    kDone,        // all was searched
    kFull,        // there is more
    kUnreadable,  // the next word, or one of some that follow it, cannot be read
    kGone,        // the copy has ended, or does not do as it is told
  };
  struct Result {
    Stop stop = Stop::kGone;
    size_t range = 0;      // which it stopped in
    uint64_t address = 0;  // the next word there
  };
  // Goes on, and adds what was found: values, and their places in words from `base`. REQUIRES: room
  // for kMostWords.
  Result Run(uint64_t* values, uint32_t* places, size_t* count);
  // To go on elsewhere in the range that it stopped in.
  void SkipTo(uint64_t address) { next_ = address; }

 private:
  bool Call(const SystemCall& call, long* value);

  pid_t copy_ = 0;  // 0: none was attached
  CallSite site_;
  MachineRegisters registers_{};
  uint64_t memory_ = 0;  // of our own, in the copy
  size_t ranges_ = 0;
  uint64_t base_ = 0;
  uint64_t low_ = 0;
  uint64_t span_ = 0;
  size_t range_ = 0;
  uint64_t next_ = 0;
};

}  // namespace heapgauge::leaks

#endif  // HEAPGAUGE_CORE_LEAKS_CAPTURE_SEARCHING_COPY_H_
