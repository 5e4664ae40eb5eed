// The processes that a host beside them serves: all that are profiled here, those of a directory,
// or certain ones by number. What there is is looked up again for each request; a process that was
// known keeps its snapshots and names.
//
// Threads: any number.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/gauge/gauge_directory.h"
#include "endpoint/base/gauge_process.h"
#include "endpoint/base/process.h"

namespace heapgauge::endpoint {

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
