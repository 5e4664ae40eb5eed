// What `run` looks after beside the program: its gauge files and their timelines, dumps from
// outside, and the processes that `run --http` serves.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/gauge/gauge_control.h"
#include "core/gauge/gauge_directory.h"
#include "core/gauge/gauge_dump.h"
#include "endpoint/base/gauge_process.h"
#include "endpoint/base/process.h"

namespace heapgauge::cli {

// Dumps that `run` makes from outside, for a program that takes no samples while it matters.
//
// Who makes which: the clock is ours alone (the agent is told not to); at exit, by bytes allocated
// and by growth are the agent's alone, since they come with allocations. Near a limit the agent
// goes first. We look at the limits as well, every 50 ms, and dump for a level only if the agent
// has not done so a tenth of a second after it was passed.
//
// Single-threaded. A dump that cannot be written is reported once.
class DumpWatch {
 public:
  struct Options {
    uint64_t seconds = 0;  // 0: not by the clock
    uint32_t percent = 0;  // 0: not near limits
    uint32_t keep = 0;     // of each file, by us; 0 for all
    bool verbose = false;
    DumpPlace place;
  };
  explicit DumpWatch(Options options) : options_(std::move(options)) {}

  bool wanted() const { return options_.seconds != 0 || options_.percent != 0; }
  // How often Look should be called.
  uint64_t period_ns() const { return options_.percent != 0 ? 50'000'000 : 1'000'000'000; }

  // Looks after one gauge file of a process that runs. None is dumped whose process has gone on as
  // another program by now: memory is that program's.
  void Look(const GaugeOwner& owner, uint32_t pid, uint64_t now_ns);

 private:
  struct Watched {
    uint64_t next_ns = 0;    // by the clock
    uint32_t level = 0;      // how many levels are dealt with
    uint64_t passed_ns = 0;  // when the next one was seen to be passed, 0 not yet
    std::deque<std::string> kept;
  };

  bool NearLimit(const std::string& path, uint32_t pid, uint64_t now_ns, Watched* file) const;
  void Dump(const GaugeOwner& owner, wire::DumpReason reason, Watched* file);

  Options options_;
  std::map<std::string, Watched> files_;
  bool failure_told_ = false;
};

class Command;

// The options of `run` that are about dumps: --dump-* and --verbose. Each has a variable of the
// agent, HEAPGAUGE_DUMP_* and HEAPGAUGE_VERBOSE, which counts where the option is not given.
struct DumpOptions {
  bool at_exit = false;
  bool verbose = false;
  std::string allocated;
  std::string growth;
  std::string seconds;
  std::string limit;
  std::string directory;
  std::string prefix;
  std::string keep;
};

void AddDumpOptions(Command sub, DumpOptions* options);

// Checks the options, adds what the agent has to know to `environment`, and returns what is left to
// do outside. Makes the directory if it is not there.
Result<DumpWatch::Options> PrepareDumps(
    const DumpOptions& options, std::vector<std::pair<std::string, std::string>>* environment);

// Finds the gauge files that a program started by `run`, and its children, make; ticks their
// timelines; and tells at the end what there is to see.
//
// A process that executes another program goes on under its number with another file. What it needs
// from then on is noted there alone, and the first file stays as it was.
//
// Threads: any; one at a time is let in. Reads directories and headers, writes timeline ticks.
class GaugeWatch {
 public:
  // `output` is the file of -o, absolute, or ""; `directory` that of --dir or $HEAPGAUGE_DIR, or
  // "".
  GaugeWatch(std::string output, std::string directory, DumpWatch dumps);

  // To be called every period_ns() while the program runs.
  void Tick(pid_t program);
  uint64_t period_ns() const { return dumps_.period_ns(); }

  // The newest gauge file of the program itself, "" if it made none. Counts its other files and
  // those of its children in `others`.
  std::string FileOf(pid_t program, size_t* others);

  // All gauge files of the program and its children, also of those that have ended.
  std::vector<std::string> Files(pid_t program);

 private:
  struct Watched {
    GaugeTicker ticker;
    std::string executable = "";  // of the process, when `replaced` was found out
    bool replaced = false;        // the process goes on as another program
  };

  std::vector<std::string> Candidates() const;
  // Returns whether there are new ones.
  bool LookForFiles(pid_t program);
  // Finds out who was replaced, of those whose process has another executable or file by now.
  void NoticeExec(bool new_files);

  std::mutex mutex_;
  std::string output_;
  std::string directory_;
  DumpWatch dumps_;
  uint64_t started_ns_;                  // Unix time
  uint64_t next_tick_ns_ = 0;            // of the timelines
  std::set<std::string> foreign_;        // files that are older than the program
  std::set<uint32_t> pids_;              // the program and those of its children that made files
  std::map<std::string, Watched> ours_;  // by path
};

// The processes that `run --http` serves: the program, and what it has started.
//
// Threads: any. The watch must outlive this.
class RunProcesses final : public endpoint::Processes {
 public:
  RunProcesses(GaugeWatch* watch, endpoint::GaugeProcessOptions options)
      : watch_(watch), options_(std::move(options)) {}

  // There are none before this.
  void set_program(pid_t program) { program_ = program; }

  std::vector<std::shared_ptr<endpoint::Process>> List() override;
  std::shared_ptr<endpoint::Process> Find(uint32_t pid) override;

 private:
  GaugeWatch* const watch_;
  const endpoint::GaugeProcessOptions options_;
  std::atomic<pid_t> program_{0};
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<endpoint::GaugeProcess>> known_;  // by path
};

}  // namespace heapgauge::cli
