// SOURCE... of `ui`: each becomes something that the page can look at, and stays open. Files are
// read in the background while the page is already served.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cli/report_options.h"
#include "core/base/result.h"
#include "endpoint/api/sources.h"
#include "endpoint/base/gauge_process.h"

namespace heapgauge::cli {

// Files that are read one after another while the page that will show them is served already.
//
// Owned by one thread; the reads run on another, after Start().
class BackgroundReads {
 public:
  BackgroundReads() = default;
  BackgroundReads(const BackgroundReads&) = delete;
  BackgroundReads& operator=(const BackgroundReads&) = delete;
  // Waits for all of them.
  ~BackgroundReads();

  // Before Start().
  void Add(std::function<Status()> read) { reads_.push_back(std::move(read)); }

  // Where no thread is to be had they are read here.
  void Start();
  // Returns when all are read or the time is over: the first failure, if any.
  Status WaitFor(std::chrono::milliseconds time);
  // The same without an end.
  Status Wait();

 private:
  void Run();

  std::vector<std::function<Status()>> reads_;
  std::mutex mutex_;
  std::condition_variable finished_;
  bool is_finished_ = false;
  Status status_;
  std::thread thread_;
};

// Directories among them: the processes that the page shows are those in there, also ones that
// start later.
std::vector<std::string> DirectoriesAmong(const std::vector<std::string>& words);

// A gauge file or PID is watched, a directory stands for the dumps in it, a trace answers for any
// moment, and whatever else is a profile is read once. Fails at the first that cannot be opened.
//
// Files of profiles are left to `reads`, which the caller starts; without it all is read here.
Status AddSources(const std::vector<std::string>& words, const SymbolOptions& symbols,
                  const endpoint::GaugeProcessOptions& how, endpoint::api::Sources* sources,
                  BackgroundReads* reads = nullptr);

}  // namespace heapgauge::cli
