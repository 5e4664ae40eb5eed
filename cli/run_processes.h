// The processes that `run --http` serves: the program, and what it has started.
//
// Threads: any. The watch must outlive this.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cli/gauge_watch.h"
#include "endpoint/base/gauge_process.h"
#include "endpoint/base/process.h"

namespace heapgauge::cli {

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
