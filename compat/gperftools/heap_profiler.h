// gperftools' heap profiler on the agent: the same calls, files, messages and moments.
//
// What differs: blocks are sampled, not all recorded, so figures are estimates and programs are not
// slowed down. The agent's interval is set to kInterval while it runs, unless HEAPGAUGE_SAMPLE or
// TCMALLOC_SAMPLE_PARAMETER ask for another. Stopped, the agent is as it was before.
//
// Threads: any; all under the lock of Working.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "compat/common/watcher.h"
#include "compat/gperftools/settings.h"
#include "core/base/result.h"

namespace heapgauge::compat {

class HeapProfiler final : public WatchClient {
 public:
  static constexpr uint64_t kInterval = 64 << 10;

  static HeapProfiler& Get();

  // HEAPPROFILE and HEAPPROFILESIGNAL.
  void StartFromEnvironment();
  void AtExit();

  void Start(const char* prefix);
  void Stop();
  void Dump(const char* reason);
  bool running() const { return running_.load(); }
  // The profile as text; "" if it is not running.
  std::string Text();

  const HeapProfilerSettings& settings() const { return settings_; }

  wire::Marks marks() override;
  uint64_t due_ns() override;
  void Look(const wire::Marks& totals) override;

 private:
  HeapProfiler();
  void DumpNow(const std::string& reason);
  void Print(int64_t level, const std::string& text) const;
  void RemoveOldFiles() const;
  void CatchSignal();
  Result<std::string> Write() const;

  HeapProfilerSettings settings_;
  std::atomic<bool> running_{false};
  std::atomic<bool> signalled_{false};
  bool added_ = false;
  std::string prefix_;
  int process_ = 0;  // that started it
  int count_ = 0;    // of dumps, ever
  // At the last dump.
  uint64_t dump_allocated_ = 0;
  uint64_t dump_freed_ = 0;
  uint64_t dump_ns_ = 0;
  uint64_t high_water_ = 0;
  bool time_passed_ = false;  // the next allocation makes a dump
  // The agent's before.
  bool was_active_ = false;
  uint64_t old_interval_ = 0;
};

}  // namespace heapgauge::compat
