// The tree of calls that a request is about: which stacks, from which end, from which functions on,
// compared with what. The same words for every resource that shows a tree.
//
// Pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>

#include "core/base/result.h"
#include "endpoint/api/api.h"

namespace heapgauge::endpoint::api {

inline constexpr std::string_view kTreeParameters[] = {"callers", "through",   "collapse",
                                                       "base",    "base-at",   "base-from",
                                                       "base-to", "base-peak", "base-hold"};

// The parameters of a resource that shows a tree: its own and those of the tree.
template <size_t count>
constexpr auto WithTreeParameters(const std::string_view (&own)[count]) {
  std::array<std::string_view, count + std::size(kTreeParameters)> all{};
  for (size_t i = 0; i < all.size(); ++i) {
    all[i] = i < count ? own[i] : kTreeParameters[i - count];
  }
  return all;
}

struct LookedTree {
  Looked now;
  std::optional<Looked> base;
  std::shared_ptr<const Subject::Tree> tree;
};
Result<LookedTree> LookAtTree(const Call& call, const Filter& filter);

}  // namespace heapgauge::endpoint::api
