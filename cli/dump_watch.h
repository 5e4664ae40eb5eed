// Dumps that `run` makes from outside, for a program that takes no samples while it matters.
//
// Who makes which: the clock is ours alone (the agent is told not to); at exit, by bytes allocated
// and by growth are the agent's alone, since they come with allocations. Near a limit the agent
// goes first. We look at the limits as well, every 50 ms, and dump for a level only if the agent
// has not done so a tenth of a second after it was passed.
//
// Single-threaded. A dump that cannot be written is reported once.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>

#include "core/gauge/gauge_directory.h"
#include "core/gauge/gauge_dump.h"

namespace heapgauge::cli {

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

}  // namespace heapgauge::cli
