// Tests that are skipped where processes of our own may not be traced.
#pragma once

#include <gtest/gtest.h>
#include <sys/ptrace.h>

#include <string>

#include "tests/leaks/capture/child.h"

namespace heapgauge::leaks {

// "" if they may; otherwise why not.
inline std::string WhyNoTracing() {
  const PausingChild child;
  if (child.pid() < 0) return "no child can be started";
  const bool traced = ptrace(PTRACE_SEIZE, child.pid(), nullptr, nullptr) == 0;
  return traced ? "" : "ptrace is not permitted here";
}

class TracingTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string why = WhyNoTracing();
    if (!why.empty()) GTEST_SKIP() << why;
  }
};

}  // namespace heapgauge::leaks
