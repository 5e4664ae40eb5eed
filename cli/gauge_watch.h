// Finds the gauge files that a program started by `run`, and its children, make; ticks their
// timelines; and tells at the end what there is to see.
//
// A process that executes another program goes on under its number with another file. What it needs
// from then on is noted there alone, and the first file stays as it was.
//
// Threads: any; one at a time is let in. Reads directories and headers, writes timeline ticks.
#pragma once

#include <sys/types.h>

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "cli/dump_watch.h"
#include "core/gauge/gauge_ticker.h"

namespace heapgauge::cli {

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

}  // namespace heapgauge::cli
