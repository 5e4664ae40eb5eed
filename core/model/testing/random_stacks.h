// Stacks of a dozen functions, some inlined into others, that call each other and themselves: for
// tests that compare two ways to look at them. Not for use outside of tests.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "core/model/testing/profile_maker.h"

namespace heapgauge::testing {

inline Profile RandomStacks(uint32_t seed) {
  std::mt19937 random(seed);
  Maker m;
  std::vector<LocationId> locations{m.Function("malloc"),
                                    m.Function("operator new(unsigned long)")};
  for (int i = 0; i < 8; ++i) locations.push_back(m.Function("f" + std::to_string(i % 6)));
  for (int i = 0; i < 4; ++i) {
    const LocationId id = m.Function(i % 2 == 0 ? "malloc" : "f" + std::to_string(i));
    m.InlinedInto(id, "f" + std::to_string(i));
    if (i > 1) m.InlinedInto(id, "g" + std::to_string(i));
    locations.push_back(id);
  }
  for (int row = 0; row < 60; ++row) {
    std::vector<LocationId> stack;
    const size_t depth = random() % 9;
    for (size_t i = 0; i < depth; ++i) stack.push_back(locations[random() % locations.size()]);
    m.Row(stack, static_cast<double>(random() % 1000));
  }
  return m.profile();
}

}  // namespace heapgauge::testing
