// Dumps without being asked: when (dump_policy.h), under which name and what is in it
// (dump_file.h), how many are kept, and what is said about it.
//
// Runs in the thread that samples, with no thread of its own. One thread at a time: others pass by.
// While one is at it no signal reaches that thread, so that a handler can neither jump out of it
// nor fork in it. On a signal handler's own stack nothing is done, since that may be small. Once
// the program has announced a seccomp filter there are no dumps any more.
//
// The program comes first: nothing waits for a lock (but a thread that leaps towards a limit while
// another one dumps: a tenth of a second at the most), errno is left alone, a limit on file sizes
// or a closed stream raises no signal. A dump that cannot be written is counted in the gauge file
// and, with HEAPGAUGE_VERBOSE, reported once.
//
// Allocation-free. Zeroed memory wants no dumps.
#pragma once

#include <atomic>
#include <cstdint>

#include "agent/record/dump_file.h"
#include "agent/record/dump_policy.h"
#include "agent/record/process_memory.h"
#include "agent/record/settings.h"
#include "agent/sys/try_lock.h"
#include "agent/table/gauge_file.h"

namespace heapgauge::agent {

class Dumper {
 public:
  // `start_ns` is wire::Header::start_monotonic_ns.
  void Start(const DumpSettings& settings, const char* exe, const char* gauge_path,
             uint64_t start_ns);
  // The child has dumps, numbers and thresholds of its own.
  void StartInChild(uint64_t live_bytes, uint64_t now_ns);

  // False in almost every process: the one thing that is asked when nothing was set.
  bool armed() const { return armed_; }

  // After a sample, or where one might have been. REQUIRES: armed().
  void Consider(GaugeFile* file, uint64_t live_bytes, uint64_t now_ns) {
    const DumpFigures figures = Figures(live_bytes, now_ns);
    if (policy_.MayBeDue(figures)) ConsiderSlowly(file, figures, 0);
  }
  // `size` bytes were refused by the allocator, or are about to be asked for.
  void Request(GaugeFile* file, uint64_t live_bytes, uint64_t now_ns, uint64_t size);
  bool MayNotFit(uint64_t size) const { return size >= policy_.room() / 4; }
  void AtExit(GaugeFile* file, uint64_t live_bytes, uint64_t now_ns);

  // Bookkeeping of samples. REQUIRES: armed().
  void CountAllocation(uint64_t size, uint64_t bytes) {
    allocated_.fetch_add(bytes, std::memory_order_relaxed);
    if (size >= kLargeBytes) large_.fetch_add(bytes, std::memory_order_relaxed);
  }
  void CountFree(uint64_t size, uint64_t bytes) {
    if (size >= kLargeBytes) large_.fetch_sub(bytes, std::memory_order_relaxed);
  }
  void ForgetLive();

  // Before system calls are frozen: lets a dump that is under way come to its end, for a while.
  void WaitForEnd() const;

 private:
  struct Kept {
    uint32_t sequence;
    uint16_t reason;
    uint16_t place;
  };

  DumpFigures Figures(uint64_t live_bytes, uint64_t now_ns) const {
    return {now_ns, allocated_.load(std::memory_order_relaxed), live_bytes,
            large_.load(std::memory_order_relaxed)};
  }
  bool Lock(DumpFile::Turn* turn);
  void Unlock(const DumpFile::Turn& turn);
  void ConsiderSlowly(GaugeFile* file, const DumpFigures& figures, uint64_t request);
  void Dump(GaugeFile* file, wire::DumpReason reason, const DumpFigures& figures,
            const DumpFile::Turn& turn);
  int DumpTo(uint32_t place, const GaugeFile& file, wire::DumpInfo* info,
             const wire::ProcessMemory& memory, const DumpFile::Turn& turn);
  void Keep(const wire::DumpInfo& info, uint32_t place);
  void Say(const char* text, size_t bytes) const;
  void SayDumped(uint64_t live_bytes);
  void SayFailed(int error);

  bool armed_ = false;
  bool at_exit_ = false;
  bool verbose_ = false;
  bool failure_told_ = false;
  uint32_t keep_ = 0;
  uint32_t pid_ = 0;
  uint32_t sequence_ = 0;
  uint32_t failures_ = 0;
  uint32_t last_error_ = 0;
  uint64_t start_ns_ = 0;
  uint64_t error_device_ = 0;  // of standard error when the program started
  uint64_t error_inode_ = 0;
  std::atomic<uint64_t> allocated_{0};
  std::atomic<uint64_t> large_{0};
  TryLock lock_{};
  std::atomic<uint32_t> turn_{0};  // counts who had it
  DumpPolicy policy_;
  ProcessMemoryReader memory_;
  DumpNames names_;
  DumpFile file_;
  DumpNames::Path path_;
  DumpNames::Path temporary_;
  FixedText<1800> line_;
  uint32_t kept_count_ = 0;
  Kept kept_[DumpSettings::kMaxKeep + 1] = {};  // oldest first
};

}  // namespace heapgauge::agent
