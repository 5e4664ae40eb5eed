// Profiles that are added up in parts, by several threads: figures are those of the rows one by
// one. Values are whole numbers, so that sums are exact in any order.

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "core/fold/functions.h"
#include "core/fold/groundwork.h"
#include "core/fold/neighbours.h"
#include "core/model/profile.h"
#include "core/model/stacks.h"

namespace heapgauge {
namespace {

constexpr RowId kRows = 600'000;  // more than one part
constexpr LocationId kFunctions = 23;

// Stacks of one to five frames; `malloc` is the innermost of some.
Profile ManyRows(bool allocated) {
  Profile profile;
  profile.sample_types = {{"inuse_objects", "count"}, {"inuse_space", "bytes"}};
  if (allocated) profile.sample_types.push_back({"alloc_space", "bytes"});
  for (LocationId id = 0; id < kFunctions; ++id) {
    profile.functions.push_back({});
    profile.functions.back().name = id == 0 ? "malloc" : "f" + std::to_string(id);
    profile.frames.push_back({id, id, false});
    Location location;
    location.first_frame = id;
    location.frame_count = 1;
    profile.locations.push_back(location);
  }
  StackBuilder builder(&profile);
  for (RowId row = 0; row < kRows; ++row) {
    std::vector<LocationId> stack;
    if (row % 3 == 0) stack.push_back(0);
    for (RowId depth = 0; depth < row % 5; ++depth) {
      stack.push_back(1 + (row * 7 + depth * depth * 3) % (kFunctions - 1));
    }
    Row made;
    made.leaf = builder.Leaf(stack);
    profile.rows.push_back(made);
    profile.values.push_back(1);
    profile.values.push_back(row % 101);
    if (allocated) profile.values.push_back(200);
  }
  return profile;
}

struct Sums {
  double flat = 0;
  double cum = 0;
};

// The stack without what only allocates; its outermost frame if that is all of it.
std::vector<LocationId> Shown(const Profile& profile, RowId row) {
  std::vector<LocationId> stack;
  profile.StackOf(row, &stack);
  if (stack.size() > 1 && stack[0] == 0) stack.erase(stack.begin());
  return stack;
}

TEST(LargeProfile, FunctionsHaveTheSumsOfTheirRows) {
  for (const bool allocated : {false, true}) {
    const Profile profile = ManyRows(allocated);
    std::map<std::string, Sums> expected;
    double total = 0;
    for (RowId row = 0; row < kRows; ++row) {
      const auto value = static_cast<double>(profile.value(row, 1));
      total += value;
      std::vector<LocationId> stack = Shown(profile, row);
      const auto name = [&](LocationId id) { return profile.functions[id].name; };
      expected[stack.empty() ? "" : name(stack[0])].flat += value;
      if (stack.empty()) expected[""].cum += value;
      profile.StackOf(row, &stack);
      for (const LocationId id : std::set<LocationId>(stack.begin(), stack.end())) {
        expected[name(id)].cum += value;
      }
    }
    const Groundwork groundwork(profile);
    FunctionOptions options;
    options.cumulative = true;
    const auto report = AggregateFunctions(groundwork, options);
    ASSERT_TRUE(report);
    EXPECT_EQ(report->total.live_bytes.value, total);
    EXPECT_EQ(report->total.allocated_bytes.value, allocated ? 200.0 * kRows : 0);
    ASSERT_EQ(report->rows.size(), expected.size());
    for (const FunctionRow& row : report->rows) {
      const std::string name =
          row.entity == kNone ? "" : profile.functions[report->entities[row.entity].function].name;
      EXPECT_EQ(row.flat.live_bytes.value, expected[name].flat) << name;
      EXPECT_EQ(row.cum.live_bytes.value, expected[name].cum) << name;
    }
  }
}

TEST(LargeProfile, NeighboursHaveTheSumsOfTheirRows) {
  const Profile profile = ManyRows(false);
  std::map<std::string, double> callers;
  std::map<std::string, double> callees;
  const LocationId who = 5;
  for (RowId row = 0; row < kRows; ++row) {
    const std::vector<LocationId> stack = Shown(profile, row);
    const auto value = static_cast<double>(profile.value(row, 1));
    std::set<std::string> above;
    std::set<std::string> below;
    for (size_t i = 0; i < stack.size(); ++i) {
      if (stack[i] != who) continue;
      above.insert(i + 1 < stack.size() ? profile.functions[stack[i + 1]].name : "");
      below.insert(i > 0 ? profile.functions[stack[i - 1]].name : "");
    }
    for (const std::string& name : above) callers[name] += value;
    for (const std::string& name : below) callees[name] += value;
  }
  const Groundwork groundwork(profile);
  FunctionOptions options;
  options.cumulative = true;
  const auto report = AggregateFunctions(groundwork, options);
  ASSERT_TRUE(report);
  NeighbourOptions asked;
  asked.pattern = "^f5$";
  const auto found = FindNeighbours(groundwork, *report, asked);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->functions.size(), 1u);
  const auto by_name = [&](const std::vector<Neighbour>& list) {
    std::map<std::string, double> sums;
    for (const Neighbour& neighbour : list) {
      const std::string name =
          neighbour.entity == kNone
              ? ""
              : profile.functions[report->entities[neighbour.entity].function].name;
      sums[name] = neighbour.figures.live_bytes.value;
    }
    return sums;
  };
  EXPECT_EQ(by_name(found->functions[0].callers), callers);
  EXPECT_EQ(by_name(found->functions[0].callees), callees);
}

}  // namespace
}  // namespace heapgauge
