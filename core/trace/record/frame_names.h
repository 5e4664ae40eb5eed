// Names that come with a trace: functions and lines of code addresses. Kept as gauge files keep
// them (core/gauge/gauge_names.h), so that one format serves both.
//
// One thread.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/base/result.h"
#include "core/model/profile.h"

namespace heapgauge::trace {

// One function of a code address.
struct FrameName {
  std::string function;
  std::string file;  // "" unknown
  uint32_t line = 0;
};

class FrameNames {
 public:
  // The first frames that an address is given count.
  void Add(uint64_t pc_module, bool exact, const std::vector<FrameName>& frames);
  bool empty() const { return named_.locations.empty(); }
  Result<std::string> Encode() const;

 private:
  FunctionId FunctionOf(const FrameName& frame);

  Profile named_;  // modules have the numbers of the trace
  std::unordered_map<std::string, FunctionId> functions_;
  std::unordered_set<uint64_t> addresses_[2];  // by `exact`
};

}  // namespace heapgauge::trace
