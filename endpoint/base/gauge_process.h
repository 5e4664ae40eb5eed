// A process by its gauge file (GaugeProcess), and the processes that a host beside them serves
// (GaugeProcesses).
//
// Threads: any number.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/gauge/gauge_directory.h"
#include "core/os/process.h"
#include "core/symbolize/frame_cache.h"
#include "endpoint/base/process.h"

namespace heapgauge::endpoint {

struct GaugeProcessOptions {
  // Where Dump() writes to; "" nowhere.
  std::string dump_directory;
  // More directories with debug files.
  std::vector<std::string> debug_directories;
  // Where names are kept on disk; "" nowhere.
  std::string name_cache;
  // Debug files are also asked for at the servers of DEBUGINFOD_URLS, which may take long.
  bool use_debuginfod = false;
  // CLOCK_MONOTONIC in nanoseconds; tests have their own.
  uint64_t (*clock)() = MonotonicNow;
  // Profilers of the allocators inside, for a host that is inside too. Must outlive the process.
  std::vector<Engine*> engines;
  // Has the agent look at the control words at once, for a host that is inside; may be empty.
  std::function<void()> nudge = {};
};

// A process by its gauge file: all that a host beside it needs, and inside it as well. The file of
// a process that is gone is served the same way; only changes are refused.
//
// Snapshots are shared: a request while one is read, or shortly after, gets the same. Names that
// were found once are kept, so that a profile fetched every second is symbolized once.
//
// A snapshot is read under one lock, names are found under another. The last snapshot of each kind
// stays in memory.
class GaugeProcess final : public Process {
 public:
  explicit GaugeProcess(std::string path, GaugeProcessOptions options = {});

  const std::string& path() const { return path_; }

  uint32_t pid() const override { return pid_; }
  Result<RecordingFacts> Facts() override;
  Result<std::shared_ptr<const Profile>> Take(Moment moment) override;
  Result<std::shared_ptr<const Profile>> TakeWithNames(Moment moment) override;
  void AddNames(Profile* profile) override;
  std::vector<std::vector<std::string>> NamesOf(const std::vector<uint64_t>& addresses) override;
  Result<bool> SetActive(bool active) override;
  Result<bool> SetInterval(uint64_t bytes) override;
  Result<bool> Reset() override;
  Result<std::string> Dump() override;
  std::shared_ptr<Process> OfDump(const std::string& path) override;
  Status MayChange() override;
  Status MayDump() override;
  std::optional<uint64_t> ResidentBytes() override;
  Result<MemorySurvey> Memory() override;
  std::optional<MemoryNow> GlanceAtMemory() override;
  std::vector<Engine*> engines() override { return options_.engines; }
  std::string gauge_path() const override { return path_; }

 private:
  // The last snapshot of one kind.
  struct Shared {
    std::mutex mutex;
    std::shared_ptr<const Profile> profile;
    uint64_t begun_ns = 0;
    uint64_t done_ns = 0;
  };
  // The same with names. REQUIRES: names_mutex_ is held.
  struct Named {
    std::shared_ptr<const Profile> of;
    std::shared_ptr<const Profile> profile;
  };

  Status CheckRuns();
  template <typename Change>
  Result<bool> ChangeAndWait(Change&& change);
  void Forget();
  // Finds names for what has none. `cache`: where they are kept on disk. REQUIRES: names_mutex_ is
  // held.
  std::vector<std::string> FindNames(const std::string& cache, Profile* profile);
  void NameLocked(Profile* profile);

  const std::string path_;
  const GaugeProcessOptions options_;
  const uint32_t pid_;
  std::array<Shared, 2> shared_;  // by Moment

  std::mutex names_mutex_;
  std::array<Named, 2> named_;
  FrameCache frames_;
};

// The processes that a host beside them serves: all that are profiled here, those of a directory,
// or certain ones by number. What there is is looked up again for each request; a process that was
// known keeps its snapshots and names.
class GaugeProcesses final : public Processes {
 public:
  // Which: every one in these directories; without any, in all directories of this host; and if
  // there are numbers, only these. Single gauge files, dumps among them, come in addition.
  struct Choice {
    std::vector<std::string> directories;
    std::vector<uint32_t> pids;
    std::vector<std::string> files;
  };
  explicit GaugeProcesses(Choice choice, GaugeProcessOptions options = {});

  std::vector<std::shared_ptr<Process>> List() override;
  std::shared_ptr<Process> Find(uint32_t pid) override;

 private:
  // By path; of each process the file that counts, running ones and newer ones first.
  std::vector<std::shared_ptr<GaugeProcess>> Look();
  // Of one that is gone: what it was called while it ran, if that was seen.
  uint32_t LastNumberOf(const GaugeOwner& owner);

  const Choice choice_;
  const GaugeProcessOptions options_;
  std::mutex mutex_;
  struct Known {
    std::shared_ptr<GaugeProcess> process;
    uint64_t start_ns = 0;  // another one may come to have the same path
  };
  std::map<std::string, Known> known_;
};

}  // namespace heapgauge::endpoint
