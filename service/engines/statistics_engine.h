// What engines without a profiler have in common: they answer with figures, and say why there is no
// profile.
#pragma once

#include <string>

#include "endpoint/base/engine.h"

namespace heapgauge::engines {

class StatisticsEngine : public endpoint::Engine {
 public:
  State state() override {
    State state;
    state.why_not = why_not();
    state.version = version();
    return state;
  }
  Result<std::string> TakeHeap() override { return Fail(ErrorCode::kUnsupported, why_not()); }
  Result<std::string> TakeGrowth() override { return Fail(ErrorCode::kUnsupported, why_not()); }
  Status SetActive(bool) override { return Fail(ErrorCode::kUnsupported, why_not()); }
  Status SetInterval(uint64_t) override { return Fail(ErrorCode::kUnsupported, why_not()); }
  Status Reset() override { return Fail(ErrorCode::kUnsupported, why_not()); }

 protected:
  virtual std::string why_not() const = 0;
  virtual std::string version() const = 0;
};

}  // namespace heapgauge::engines
