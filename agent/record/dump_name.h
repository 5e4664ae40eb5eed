// What dumps are called: `<dir>/<program>.<pid>.<sequence>.<reason>.hg`, or
// `<prefix>.<sequence>.hg` if a prefix was asked for.
//
// Without a directory in the settings dumps go to the one in which the program was started, since
// the gauge directory is memory and may be gone with the container; if that one will not have them,
// to the gauge directory after all. The texts are copied at the start: a program may overwrite its
// environment and change its directory. Allocation-free.
#pragma once

#include <cstdint>

#include "agent/record/settings.h"
#include "agent/sys/text.h"
#include "wire/gauge_format.h"

namespace heapgauge::agent {

class DumpNames {
 public:
  using Path = FixedText<1400>;

  // False if the texts are too long: there can be no dumps then.
  bool Remember(const DumpSettings& settings, const char* exe, const char* gauge_path);

  // Places to try, in this order.
  uint32_t places() const { return directory_[1][0] != '\0' ? 2 : 1; }
  void Final(uint32_t place, uint32_t pid, uint32_t sequence, wire::DumpReason reason,
             Path* path) const;
  // The name while it is being written. The same for all dumps of a process, so that one that is
  // killed in the middle of many leaves one such file at the most.
  void Temporary(uint32_t place, uint32_t pid, Path* path) const;

 private:
  char directory_[2][1024] = {};
  char prefix_[1024] = {};  // absolute, or ""
  char program_[256] = {};
};

}  // namespace heapgauge::agent
