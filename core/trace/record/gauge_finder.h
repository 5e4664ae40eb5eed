// Finds the gauge files that a program and its children make, soon after they are made.
//
// Looks at the times of the directories and lists them only when they changed. One thread.
#ifndef HEAPGAUGE_CORE_TRACE_RECORD_GAUGE_FINDER_H_
#define HEAPGAUGE_CORE_TRACE_RECORD_GAUGE_FINDER_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/formats/gauge/gauge_directory.h"

namespace heapgauge::trace {

class GaugeFinder {
 public:
  // `directory` is the one of the program's gauge files; "" for the usual ones. Files that are
  // older than this object are not meant.
  explicit GaugeFinder(std::string directory);

  // Those that were not found before, the oldest first.
  std::vector<GaugeOwner> FindNew(uint32_t program);
  // The file was removed; another one may come in its place.
  void Forget(const std::string& path) { seen_.erase(path); }

 private:
  bool HasChanged(const std::string& directory);

  std::string directory_;
  uint64_t started_ns_;                    // Unix time
  std::map<std::string, uint64_t> times_;  // when directories were changed last
  bool look_again_ = true;                 // some file was not finished
  std::set<std::string> seen_;             // ours, and those that are not
  std::set<uint32_t> pids_;                // the program and those of its children that we know
};

}  // namespace heapgauge::trace

#endif  // HEAPGAUGE_CORE_TRACE_RECORD_GAUGE_FINDER_H_
