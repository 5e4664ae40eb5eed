// Copies a gauge file from outside, live or not, so that the copy can be opened on its own: records
// that were being written are left out of it, and its header says when and why it was made. Also
// how dumps are called. The agent makes its own dumps in the same form (agent/dump).
//
// All access is by pread and pwrite. A copy that cannot be read is never left behind.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/gauge/gauge_names.h"
#include "core/model/profile.h"
#include "wire/gauge_format.h"

namespace heapgauge {

// The bytes of the copy.
Result<std::string> CopyGauge(const std::string& from,
                              wire::DumpReason reason = wire::DumpReason::kRequest);

// To the file `to`, which is replaced if it exists.
Status DumpGauge(const std::string& from, const std::string& to,
                 wire::DumpReason reason = wire::DumpReason::kRequest);

// Where dumps go when only the place is given. A prefix comes before the directory: it is a path.
struct DumpPlace {
  std::string directory;  // "" is the current one
  std::string prefix;

  // `<directory>/<program>.<pid>.<sequence>.<reason>.hg` or `<prefix>.<sequence>.hg`.
  std::string Name(const std::string& program, uint32_t pid, uint32_t sequence,
                   const std::string& reason) const;
};

// To a new file with a free number; its path. Never replaces anything.
Result<std::string> DumpGaugeTo(const std::string& from, const DumpPlace& place,
                                wire::DumpReason reason);

// A profile to take along: the gauge file as it is at this moment, with the names of its functions
// inside.
//
// Single-threaded.
struct SavedGauge {
  std::string bytes;  // the file
  NameCounts names;
};

// `symbolize` gives the profile its names.
Result<SavedGauge> SaveGauge(const std::string& path,
                             const std::function<void(Profile*)>& symbolize);

}  // namespace heapgauge
