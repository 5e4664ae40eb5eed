// A profile to take along: the gauge file as it is at this moment, with the names of its functions
// inside.
//
// Single-threaded.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/gauge/gauge_names.h"
#include "core/model/profile.h"

namespace heapgauge {

struct SavedGauge {
  std::string bytes;  // the file
  NameCounts names;
};

// `symbolize` gives the profile its names.
Result<SavedGauge> SaveGauge(const std::string& path,
                             const std::function<void(Profile*)>& symbolize);

}  // namespace heapgauge
