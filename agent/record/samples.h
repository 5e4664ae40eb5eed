// Records the sampled blocks of the heap and what they add up to: totals, the peak, the timeline,
// dumps that are due, marks that another library watches.
//
// Threads: all of them, also signal handlers in the middle of anything here. Nothing blocks,
// nothing allocates. What cannot be kept is counted as lost, with its reason. Usable before any
// constructor ran. What Samples refers to must outlive it.
#pragma once

#include <atomic>
#include <cstdint>

#include "agent/record/dumper.h"
#include "agent/record/sampler.h"
#include "agent/record/session.h"
#include "agent/record/statistics.h"
#include "agent/table/history.h"
#include "agent/table/poisson.h"
#include "wire/gauge_format.h"
#include "wire/in_process.h"

namespace heapgauge::agent {

// Calls another library in the process when totals pass the marks that it set (wire/in_process.h).
//
// Counts at every sample, so that marks can be set at any time. Lock-free, allocation-free; usable
// from zeroed memory.
class Watch {
 public:
  void Set(wire::WatchCallback* callback, const wire::Marks& marks);
  wire::Marks Totals() const;

  // Of samples; `bytes` is what one stands for.
  void CountAllocation(uint64_t bytes) {
    allocated_.fetch_add(bytes, std::memory_order_relaxed);
    if (armed_.load(std::memory_order_acquire)) Check();
  }
  void CountFree(uint64_t bytes) {
    freed_.fetch_add(bytes, std::memory_order_relaxed);
    if (armed_.load(std::memory_order_acquire)) Check();
  }
  // After a reset.
  void Forget();

 private:
  void Check();

  std::atomic<bool> armed_;
  std::atomic<uint64_t> allocated_;
  std::atomic<uint64_t> freed_;
  std::atomic<wire::WatchCallback*> callback_;
  std::atomic<uint64_t> allocated_mark_;
  std::atomic<uint64_t> freed_mark_;
  std::atomic<uint64_t> live_mark_;
};

// A block that is a sample.
struct SampledRequest {
  uintptr_t address;
  uint64_t size;      // requested
  uint64_t usable;    // as the program is told
  uint64_t interval;  // it was sampled with
  wire::AllocationFunction function;
  uint32_t flags;  // wire::kLive*
};

// The samples of one process. The dumper, which is large, belongs to no other object.
class Samples {
 public:
  constexpr Samples(Session& session, Dumper& dumper) : session_(session), dumper_(dumper) {}

  void Start(const Settings& settings);
  // Once the session has its file.
  void StartDumps(const Settings& settings);
  // In a forked child. Before it has a file: of other threads there is nothing left. Then: writes
  // into the header of its file what is live. At last, when that is its own.
  void ForgetThreads();
  void ShowInherited(wire::Header* header);
  void StartDumpsInChild();

  Sampler& sampler() { return sampler_; }
  Watch& watch() { return watch_; }
  Statistics& statistics() { return statistics_; }

  // REQUIRES: ControlFollower::BeginSample.
  void RecordAllocation(const SampledRequest& block, const Registers& caller);
  // Counts a due sample that cannot be taken.
  void RecordLoss(wire::Loss why, uint64_t size, uint64_t interval);
  // After a sample: it counts against the cap, and the interval in force may change.
  void NoteSample(uint64_t now_ns) {
    const uint64_t in_force = sampler_.interval_in_force();
    sampler_.NoteSample(now_ns);
    if (in_force != sampler_.interval_in_force()) PublishSampler(session_.file().header());
  }

  // Takes the block out of the live table if it is a sample. The caller then frees it and says
  // CountFree, or, if that fails, PutBack.
  bool TakeOut(uintptr_t address, wire::LiveRecord* record);
  void CountFree(const wire::LiveRecord& record);
  void PutBack(const wire::LiveRecord& record);
  // Copies the record of a sample; false if the block is none.
  bool Look(uintptr_t address, wire::LiveRecord* record) const {
    return session_.tables().live.Find(address, record);
  }
  // A record from before the last reset counts for nothing.
  bool IsBeforeReset(const wire::LiveRecord& record) const {
    return record.birth_ns < reset_ns_.load(std::memory_order_relaxed);
  }

  // The allocator has refused this many bytes.
  void NoteRefused(uint64_t size);
  // It is about to be asked for them, by a call that may not come back.
  void NoteRequest(uint64_t size) {
    if (dumper_.armed() && size >= kLargeBytes && dumper_.MayNotFit(size)) NoteRefused(size);
  }
  // Where a sample might have been, but none was due.
  void ConsiderDump() {
    if (dumper_.armed()) ConsiderDumpNow();
  }
  void DumpAtExit();
  // Lets a dump that is under way come to its end, for a while.
  void WaitForDump() const { dumper_.WaitForEnd(); }

  // Shows in the header how it is sampled.
  void PublishSampler(wire::Header* header) const;
  // All counters begin anew, in this file.
  void Reset(GaugeFile* file, uint64_t now_ns);

 private:
  void ConsiderDumpNow();

  Session& session_;
  Dumper& dumper_;
  Sampler sampler_{};
  Peak peak_{};
  Watch watch_{};
  Statistics statistics_{};
  // The shared totals are not read back: these steer.
  std::atomic<uint64_t> live_bytes_{0};
  std::atomic<double> live_objects_{0};
  std::atomic<double> allocated_objects_{0};
  std::atomic<double> freed_objects_{0};
  std::atomic<uint64_t> reset_ns_{0};
};

}  // namespace heapgauge::agent
