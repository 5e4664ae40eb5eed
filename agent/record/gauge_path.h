// Where the gauge file of this process goes: `<dir>/<exe>.<pid>.hg`, or the file that was named.
//
// The texts are copied at the start, since a program may overwrite its environment later and a
// forked child still needs them. Allocation-free.
#pragma once

#include <cstdint>

#include "agent/record/settings.h"
#include "agent/table/gauge_file.h"

namespace heapgauge::agent {

class GaugePath {
 public:
  void Remember(const Settings& settings, const char* exe);

  // Creates the file for process `pid` in the first directory that will have it. A file of that
  // name from an earlier program of this process is kept under the name `<file>.<n>`; if another
  // process has that number (an earlier one, or one in another pid namespace) its file is left
  // alone and ours is called `<file>.<n>`. 0 or the last -errno.
  int Create(GaugeFile* file, uint32_t pid) const;

  // True if the user said where files go: another user may not be able to make one there.
  bool is_given() const { return directory_[0] != '\0' || out_file_[0] != '\0'; }

 private:
  int CreateIn(const char* directory, GaugeFile* file, uint32_t pid) const;

  bool usable_ = false;  // the texts below were not cut
  char directory_[512] = {};
  char runtime_directory_[512] = {};
  char out_file_[1000] = {};
  uint32_t out_pid_ = 0;
  char name_[256] = {};
};

}  // namespace heapgauge::agent
