// The ranges that the program has mapped and not unmapped, each with the stack that asked for it.
//
// Ranges are cut as the kernel cuts them: munmap in the middle of one leaves two, a mapping over
// others takes their place. So they are kept sorted by address in private memory, and each has a
// record in the gauge file, which readers see.
//
// Calls of mmap are rare and slow, so one lock guards it all. It is a try-lock: a thread that
// cannot have it for a few milliseconds (its holder may be stopped, or this is a signal handler
// that interrupted it) goes on without, and the caller counts the loss. At most kMaxRanges are
// kept.
//
// Forked children inherit the private part. If the fork came amid a change, it is dropped.
// Allocation-free, async-signal-safe; zeroed memory is an empty table.
#pragma once

#include <atomic>
#include <cstdint>

#include "agent/sys/try_lock.h"
#include "agent/table/gauge_file.h"
#include "wire/gauge_format.h"

namespace heapgauge::agent {

class MappingTable {
 public:
  static constexpr uint32_t kMaxRanges = 32 * 1024;

  // What a change took away: bytes and, of ranges that are gone as a whole, their number, by stack.
  struct Gone {
    uint32_t stack;
    uint64_t bytes;
    bool whole;
  };
  using OnGone = void (*)(void* context, const Gone& gone);

  // Adds a range in place of whatever was there. False if it could not be kept.
  bool Add(GaugeFile* file, const wire::MappingRecord& record, OnGone on_gone, void* context);
  // Takes a range out. False if that could not be noted. `first` is what the first part of it was;
  // its stack is 0 if nothing was there.
  bool Remove(GaugeFile* file, uint64_t address, uint64_t length, wire::MappingRecord* first,
              OnGone on_gone, void* context);

  // For a forked child: writes all into its file, as inherited ones.
  void CopyTo(GaugeFile* file);

  uint32_t count() const { return count_.load(std::memory_order_relaxed); }
  // What was ever touched of it.
  size_t private_bytes() const {
    return slots_.load(std::memory_order_relaxed) * (sizeof(Range) + sizeof(uint32_t));
  }

 private:
  struct Range {
    wire::MappingRecord record;  // `state` is unused
    uint32_t slot;               // in the file; 0: it has none
    uint32_t reserved;
  };

  static constexpr size_t kPrivateBytes = kMaxRanges * (sizeof(Range) + sizeof(uint32_t));

  bool Begin();
  void End();
  uint32_t FirstBehind(uint64_t address) const;
  bool Cut(GaugeFile* file, uint64_t start, uint64_t end, OnGone on_gone, void* context);
  bool Insert(GaugeFile* file, uint32_t at, const wire::MappingRecord& record);
  void Erase(GaugeFile* file, uint32_t at);
  void Publish(GaugeFile* file, uint32_t at);

  TryLock lock_;
  std::atomic<bool> changing_;
  Range* ranges_ = nullptr;  // sorted, kMaxRanges of room
  // Read once in each step and checked: after ten seconds the lock counts as free, and a thread
  // that was stopped for so long may go on amid another one's change. Then ranges are wrong, but no
  // memory is.
  std::atomic<uint32_t> count_;
  std::atomic<uint32_t> slots_;     // taken so far, without slot 0
  uint32_t* free_slots_ = nullptr;  // given back; kMaxRanges of room
  std::atomic<uint32_t> free_count_;
};

}  // namespace heapgauge::agent
