// The record of one process: its gauge file and the path of that file, the tables that are written
// there, and the tracer. The parts that record (samples.h, labels.h, mappings.h) and the one that
// steers them (control.h) all build on it.
//
// Threads: all of them, also signal handlers in the middle of anything here. Nothing blocks,
// nothing allocates, errno is left alone. Zero-initialised: usable before any constructor ran.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "agent/record/settings.h"
#include "agent/record/statistics.h"
#include "agent/record/walker_pool.h"
#include "agent/sys/os.h"
#include "agent/sys/os_memory.h"
#include "agent/sys/thread_state.h"
#include "agent/table/gauge_file.h"
#include "agent/table/label_table.h"
#include "agent/table/live_table.h"
#include "agent/table/mapping_table.h"
#include "agent/table/module_table.h"
#include "agent/table/stack_table.h"
#include "agent/trace/tracer.h"
#include "agent/unwind/walker.h"
#include "wire/gauge_format.h"

namespace heapgauge::agent {

// Where the gauge file of this process goes: `<dir>/<exe>.<pid>.hg`, or the file that was named.
//
// The texts are copied at the start, since a program may overwrite its environment later and a
// forked child still needs them.
class GaugePath {
 public:
  void Remember(const Settings& settings, const char* exe);

  // Creates the file for process `pid` in the first directory that will have it. A file of that
  // name from an earlier program of this process is kept under the name `<file>.<n>`; if another
  // process has that number (an earlier one, or one in another pid namespace) its file is left
  // alone and ours is called `<file>.<n>`. 0 or the last -errno.
  int Create(GaugeFile* file, uint32_t pid) const;

  // True if the user said where files go: another user may not be able to make one there.
  bool is_given() const { return directory_[0] != '\0' || out_file_[0] != '\0'; }

 private:
  int CreateIn(const char* directory, GaugeFile* file, uint32_t pid) const;

  bool usable_ = false;  // the texts below were not cut
  char directory_[512] = {};
  char runtime_directory_[512] = {};
  char out_file_[1000] = {};
  uint32_t out_pid_ = 0;
  char name_[256] = {};
};

// What is in the file beside its header.
struct Tables {
  void Start();
  // For a forked child.
  void CopyTo(const GaugeFile& from, GaugeFile* to);
  // Before system calls may become deadly.
  void Prepare();
  size_t private_bytes() const;

  ModuleTable modules;
  StackTable stacks;
  LabelTable labels;
  LiveTable live;
  LiveTable pool_live;
  MappingTable mappings;
  PoolTable pools;
};

// Until its first sample a forked child (sys/os_memory.h) only keeps the private tables right. Then
// it makes a file of its own and carries over what was live at the fork.
class Session {
 public:
  // Makes the record of a forked child; false if that is not possible.
  using StartInChild = bool();

  // The start, in three steps. `own_bytes`: of memory that all parts have from the beginning.
  // False if there can be no record.
  bool Start(const Settings& settings, StartInChild* start_in_child, size_t own_bytes);
  // Makes the file. False if there is nowhere to put it: the agent then stays out of the way.
  bool CreateFile();
  void HasStarted() { life_.Settle(true); }

  // The same for a forked child: its file, not in use yet, nullptr if there can be none. What other
  // threads of the parent were doing is undone.
  GaugeFile* CreateChildsFile();
  // Writes all tables into it.
  void CopyTables() { tables_.CopyTo(file_, &new_file_); }
  // From now on it is this process's own file.
  void SwitchToChildsFile();

  // There is a record, or there can be one in a forked child.
  bool Available() const { return life_.has_started() && !life_.has_failed(); }
  bool has_started() const { return life_.has_started(); }
  // A forked child that has no record yet. REQUIRES: has_started().
  bool is_forked() const { return life_.is_forked(); }
  // Makes the record of a forked child if need be. False if there is none.
  bool Ready() { return life_.has_started() && (life_.is_ready() || BecomeReady()); }
  // The file, if it is this process's own, else nullptr.
  GaugeFile* OwnFile() { return life_.has_started() && life_.is_ready() ? &file_ : nullptr; }
  // The file that was this process's, or its parent's, last.
  GaugeFile& file() { return file_; }
  // The path of the own file, which is made if need be; "" if there is none.
  const char* OwnPath() { return Ready() ? file_.path() : ""; }

  Tables& tables() { return tables_; }
  Tracer& tracer() { return tracer_; }
  const char* exe() const { return exe_; }
  uint32_t process() const { return process_; }
  bool path_is_given() const { return path_.is_given(); }
  uint64_t start_ns() const { return start_ns_; }  // of os::MonotonicNs()
  uint64_t Now() const { return os::MonotonicNs() - start_ns_; }

  // The calling thread's kernel id.
  uint32_t CurrentThread() {
    ThreadState& thread = hg_thread;
    const uint32_t process = forks_.load(std::memory_order_relaxed);
    if (thread.thread_id == 0 || thread.process != process) [[unlikely]] {
      thread.thread_id = os::ThreadId();
      thread.process = process;
    }
    return thread.thread_id;
  }
  // Where a call came from: the number of its stack, 0 with the reason in *loss if it cannot be
  // kept. `statistics`: to be asked whether the allocator may be questioned from there.
  struct Site {
    uint32_t stack = 0;
    bool complete = false;
    bool may_ask = false;
  };
  Site FindSite(const Registers& caller, uint64_t now_ns, uint16_t flags, uint16_t labels,
                wire::Loss* loss, const Statistics* statistics = nullptr);

  // After dlclose.
  void CheckModules();
  // What a second's tick brings, and what every sample may.
  void OncePerTick();
  // Shows how much memory the agent has, and where, if that changed.
  void PublishMemory() {
    if (ranges_published_.load(std::memory_order_relaxed) != os::PrivateRangesVersion()) {
      PublishMemoryNow();
    }
  }

  // Exact tracing. `look_around` is the tracer's (trace/tracer.h). False if there is no memory.
  bool StartTracing(const TraceSettings& settings, void (*look_around)(void*, bool due));
  // The header through which this process asks for a leak check; nullptr if nobody is to be asked.
  wire::Header* LeakQuestions();
  // Says in the header that this process ends without a leak check, because it cannot ask.
  void WantNoExitCheck();

 private:
  bool BecomeReady();
  void PublishMemoryNow();

  ProcessLife life_;
  GaugeFile file_;  // the parent's in a forked child that has none of its own yet
  GaugeFile new_file_;
  GaugeFile parent_file_;
  GaugePath path_;
  Tables tables_;
  WalkerPool walkers_;
  Tracer tracer_;
  StartInChild* start_in_child_ = nullptr;
  size_t own_bytes_ = 0;
  uint32_t process_ = 0;  // whose file it is; a vfork child, which shares all this, has another id
  std::atomic<uint32_t> forks_;             // counted from the first process
  std::atomic<uint32_t> ranges_published_;  // os::PrivateRangesVersion() that the file shows
  uint64_t start_ns_ = 0;
  char exe_[1024] = {};
};

}  // namespace heapgauge::agent
