// Has a copy of a program search its own memory for words in a range of values. Reading the memory
// from outside means copying all of it, page by page by the kernel; the copy has it mapped, and
// tells only of the few words that matter.
//
// A small piece of code (search_code_ARCH.S) is put into memory that the copy is made to map, and
// run by the one thread that it has. It touches nothing else, so the copy stays what it was. The
// copy is stopped whenever it does not search; a signal that it gets is forgotten. What it finds it
// puts into memory that it shares with us, where it can make some; otherwise that is read.
//
// To be used by the thread that traces the copy; what was found may be read by another one until
// the same buffer is searched into again. Holds 800 KiB.
#pragma once

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
  // Where words are put that were found: one buffer can be looked at while the other is filled.
  // There is room for some that others find.
  static constexpr size_t kBuffers = 2;
  static constexpr size_t kMoreWords = 1024;

  SearchingCopy() = default;
  ~SearchingCopy();
  SearchingCopy(const SearchingCopy&) = delete;
  SearchingCopy& operator=(const SearchingCopy&) = delete;

  // To be called first; `copy` is stopped. False if it does not do as it is told.
  bool Attach(pid_t copy, const CallSite& site);
  // The copy has no open files from here on; what the program has is its own. Kernels before 5.9
  // cannot do that: then it stays as it was. REQUIRES: Attach was true.
  void CloseFiles();
  // What may be used; tests do with less.
  struct Means {
    bool wide_code = true;
    bool shared_memory = true;
  };
  // Whether it can search: Attach was true, the processor has what the code needs, and there is
  // room for it.
  bool Prepare(const Means& means);

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
  // Goes on, and says how many words were found: values, and their places in words from `base`.
  Result Run(size_t buffer, size_t* count);
  uint64_t* values(size_t buffer) { return buffers_[buffer].values; }
  uint32_t* places(size_t buffer) { return buffers_[buffer].places; }
  // To go on elsewhere in the range that it stopped in.
  void SkipTo(uint64_t address) { next_ = address; }

 private:
  struct Buffer {
    uint64_t values[kMostWords + kMoreWords];
    uint32_t places[kMostWords + kMoreWords];
  };

  bool Call(const SystemCall& call, long* value);
  // Its address in the copy, 0 if there is none.
  uint64_t Map(uint64_t bytes, int rights, int flags, long file);
  // False if the copy is gone; there is no shared memory if it cannot be made.
  bool ShareBuffers();

  pid_t copy_ = 0;  // 0: none was attached
  CallSite site_;
  MachineRegisters registers_{};
  bool has_own_files_ = false;
  uint64_t memory_ = 0;          // of our own, in the copy
  uint64_t remote_buffers_ = 0;  // there, too
  Buffer* buffers_ = nullptr;    // ours
  bool is_shared_ = false;       // they are the same
  size_t ranges_ = 0;
  uint64_t base_ = 0;
  uint64_t low_ = 0;
  uint64_t span_ = 0;
  size_t range_ = 0;
  uint64_t next_ = 0;
};

}  // namespace heapgauge::leaks
