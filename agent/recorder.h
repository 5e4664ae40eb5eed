// Keeps the record of one process: takes samples and frees from the hooks, walks the stack, and
// writes what follows from it into the gauge file. The one place that knows all the tables.
//
// Until its first sample a forked child (process_life.h) only keeps the private tables right; then
// it makes a file of its own and carries over what was live at the fork.
//
// Threads: all of them, also signal handlers in the middle of anything here. Nothing blocks,
// nothing allocates, errno is left alone. What cannot be kept is counted as lost, with its reason.
#ifndef HEAPGAUGE_AGENT_RECORDER_H_
#define HEAPGAUGE_AGENT_RECORDER_H_

#include <atomic>
#include <cstdint>

#include "agent/dump/dumper.h"
#include "agent/leaks/own_copy.h"
#include "agent/process_life.h"
#include "agent/sample/sampler.h"
#include "agent/sample/walker_pool.h"
#include "agent/sys/environment.h"
#include "agent/sys/try_lock.h"
#include "agent/table/gauge_file.h"
#include "agent/table/gauge_path.h"
#include "agent/table/label_table.h"
#include "agent/table/live_table.h"
#include "agent/table/mapping_table.h"
#include "agent/table/module_table.h"
#include "agent/table/peak.h"
#include "agent/table/pool_table.h"
#include "agent/table/stack_table.h"
#include "agent/trace/tracer.h"
#include "agent/unwind/walker.h"
#include "agent/watch.h"
#include "wire/gauge_format.h"

// The generation of control words this process has followed; read by the stubs of a process that
// was never active, beside the shared word that hg_control_word points to.
extern "C" __attribute__((visibility("hidden"))) uint32_t hg_seen_generation;
extern "C" __attribute__((visibility("hidden"))) const uint32_t* hg_control_word;

namespace heapgauge::agent {

struct AllocatorIdentity {
  wire::Allocator kind = wire::Allocator::kUnknown;
  const char* path = "";
};

class Recorder {
 public:
  // Makes the gauge file. False if there is nowhere to put it: the agent then stays out of the way.
  bool Start(const Settings& settings, const AllocatorIdentity& allocator);
  // The program ends in good order.
  void End();
  // It ends by _exit, where no destructor runs: no dump is written either.
  void EndAtOnce();

  // Follows the control words if they changed.
  void FollowControl();

  // The program's own wishes. They go through the control words like everybody's, so that the last
  // one to ask wins, and are followed before the call returns (unless this is a signal handler that
  // has interrupted just that: then at the next sample). False if there is no gauge file.
  bool RequestActive(bool active);
  bool RequestInterval(uint64_t bytes);
  bool RequestReset();
  // The path of this process's own file, which is made if need be; "" if there is none.
  const char* OwnPath() { return Ready() ? file_.path() : ""; }
  // There is a file, or there can be one in a forked child.
  bool Available() const;

  struct Block {
    uintptr_t address;
    uint64_t size;      // requested
    uint64_t usable;    // as the program is told
    uint64_t interval;  // it was sampled with
    wire::AllocationFunction function;
    uint32_t flags;  // wire::kLive*
  };
  void RecordAllocation(const Block& block, const Registers& caller);
  // Counts a due sample that cannot be taken.
  void RecordLoss(wire::Loss why, uint64_t size, uint64_t interval);

  // Takes the block out of the live table if it is a sample. The caller then frees it and says
  // CountFree, or, if that fails, PutBack.
  bool TakeOut(uintptr_t address, wire::LiveRecord* record);
  void CountFree(const wire::LiveRecord& record);
  void PutBack(const wire::LiveRecord& record);
  // Copies the record of a sample; false if the block is none.
  bool Look(uintptr_t address, wire::LiveRecord* record) const {
    return live_.Find(address, record);
  }

  // The allocator has refused this many bytes.
  void NoteRefused(uint64_t size);
  // It is about to be asked for them, by a call that may not come back.
  void NoteRequest(uint64_t size) {
    if (dumper_.armed() && size >= kLargeBytes && dumper_.MayNotFit(size)) NoteRefused(size);
  }
  // Where a sample might have been, but none was due.
  void Poll() {
    FollowControl();
    if (dumper_.armed()) ConsiderDump();
  }
  // A mapping that the program has been given, and one that it gives back.
  struct Mapping {
    uint64_t address;
    uint64_t length;
    uint32_t protection;
    uint32_t map_flags;
    bool of_allocator;
  };
  void RecordMapping(const Mapping& mapping, const Registers& caller);
  // Tells what was there; if the program cannot give it back after all, PutBackMapping.
  void RecordUnmap(uint64_t address, uint64_t length, wire::MappingRecord* taken);
  void PutBackMapping(const wire::MappingRecord& taken);

  // The calling thread's labels (heapgauge.h). A negative answer is a code of that interface.
  int64_t PushLabel(const char* key, const char* value);
  void PopLabel(int64_t token);
  int NameThread(const char* name);

  // Pools of the program's own. Their blocks are sampled like others and kept apart from them.
  int FindPool(const char* name);
  void RecordPoolAllocation(int pool, const Block& block, const Registers& caller);
  void RecordPoolFree(int pool, uintptr_t address);

  // Exact tracing. To be called after Start, from which on no sample is taken. False if there is no
  // memory.
  bool StartTracing(const TraceSettings& settings);
  Tracer& tracer() { return tracer_; }
  // The header through which this process asks for a leak check; nullptr if nobody is to be asked.
  wire::Header* LeakQuestions();
  // Says in the header that this process ends without a leak check, because it cannot ask.
  void WantNoExitCheck();

  // After dlclose.
  void CheckModules();
  // Before system calls may become deadly, and if `strict` also the processor's clock.
  void PrepareForSeccomp(bool strict);
  // Before the process becomes another user or gets another root directory, and cannot open its
  // file any more: makes room in it. A forked child that has none yet makes it now, if it may not
  // be able to later. Any thread, also a child that shares our memory (vfork).
  void PrepareForOtherRights(bool other_root);

  // How to ask the allocator for its own figures, and whether an address lies in it. Before Start.
  struct AllocatorQuestions {
    bool (*statistics)(wire::AllocatorStatistics*) = nullptr;
    bool (*is_inside)(uintptr_t pc) = nullptr;
  };
  void SetQuestions(const AllocatorQuestions& questions) { questions_ = questions; }

  Sampler& sampler() { return sampler_; }
  Watch& watch() { return watch_; }

 private:
  bool Ready();
  bool StartInChild();
  // Where a call came from: the number of its stack, 0 if it cannot be kept.
  struct Site {
    uint32_t stack = 0;
    bool complete = false;
    bool may_ask = false;  // the allocator for its figures, since that is wanted
  };
  Site FindSite(const Registers& caller, uint64_t now_ns, uint16_t flags, uint16_t labels,
                wire::Loss* loss);
  uint32_t InternLabel(uint32_t parent, const LabelText& label, uint16_t flags = 0);
  uint32_t OnThreadName(uint32_t set, uint16_t name);
  uint16_t LabelsInPool(int pool);
  void CountPoolFree(const wire::LiveRecord& record);
  template <typename Word>
  bool Request(Word wire::Control::*word, Word value);
  void FollowRequest(wire::Control& control);
  static void FillHeader(wire::Header* header, const Settings& settings,
                         const AllocatorIdentity& allocator, const char* exe);
  GaugeFile* OwnFile();
  uint64_t Now() const { return os::MonotonicNs() - start_monotonic_ns_; }
  void Reset(uint64_t now_ns);
  void OncePerTick();
  void LookAround(bool due);
  void ConsiderDump();
  void PublishMemory();
  uint32_t CurrentThread();
  void RecordMappingLoss();
  static void CountUnmapped(void* self, const MappingTable::Gone& gone);
  bool MayAskAllocator(const Stack& stack) const;
  void TakeStatistics(uint64_t since_start);
  void PublishSampler(wire::Header* header) const;

  ProcessLife life_;
  GaugeFile file_;  // the parent's in a forked child that has none of its own yet
  GaugeFile new_file_;
  GaugeFile parent_file_;
  GaugePath path_;
  Sampler sampler_;
  WalkerPool walkers_;
  ModuleTable modules_;
  StackTable stacks_;
  LabelTable labels_;
  LiveTable live_;
  LiveTable pool_live_;
  PoolTable pools_;
  MappingTable mappings_;
  Peak peak_;
  uint32_t process_ = 0;  // whose file it is; a vfork child, which shares all this, has another id
  Tracer tracer_;
  Dumper dumper_;
  Watch watch_;
  // The shared totals are not read back: these steer.
  std::atomic<uint64_t> live_bytes_;
  std::atomic<double> live_objects_;
  std::atomic<double> allocated_objects_;
  std::atomic<double> freed_objects_;
  std::atomic<uint64_t> reset_ns_;
  OwnCopy copy_;
  TryLock following_;
  TryLock writing_statistics_;
  AllocatorQuestions questions_;
  std::atomic<uint32_t> statistics_wanted_;  // number of the request
  std::atomic<uint32_t> statistics_given_;
  std::atomic<uint32_t> forks_;             // counted from the first process
  std::atomic<uint32_t> ranges_published_;  // os::PrivateRangesVersion() that the file shows
  uint32_t resets_seen_ = 0;
  uint32_t resets_ = 0;
  uint64_t start_monotonic_ns_ = 0;
  char exe_[1024] = {};
};

// The process's recorder: zero-initialised, usable before any constructor ran.
extern Recorder recorder;

}  // namespace heapgauge::agent

#endif  // HEAPGAUGE_AGENT_RECORDER_H_
