// Where the gauge file of this process goes: `<dir>/<exe>.<pid>.hg`, or the file that was named.
//
// The texts are copied at the start, since a program may overwrite its environment later and a
// forked child still needs them. Allocation-free.
#ifndef HEAPGAUGE_AGENT_TABLE_GAUGE_PATH_H_
#define HEAPGAUGE_AGENT_TABLE_GAUGE_PATH_H_

#include <cstdint>

#include "agent/sys/environment.h"
#include "agent/table/gauge_file.h"

namespace heapgauge::agent {

class GaugePath {
 public:
  void Remember(const Settings& settings, const char* exe);

  // Creates the file for process `pid` in the first directory that will have it. A file of
  // that name from an earlier program of this process, or of an earlier process with its number, is
  // kept under the name `<file>.<n>`. 0 or the last -errno.
  int Create(GaugeFile* file, uint32_t pid) const;

 private:
  int CreateIn(const char* directory, GaugeFile* file, uint32_t pid) const;

  char directory_[512] = {};
  char runtime_directory_[512] = {};
  char out_file_[1000] = {};
  uint32_t out_pid_ = 0;
  char name_[256] = {};
};

}  // namespace heapgauge::agent

#endif  // HEAPGAUGE_AGENT_TABLE_GAUGE_PATH_H_
