#include "core/voices/pprof/stack_walk.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "core/model/stacks.h"

namespace heapgauge::pprof {
namespace {

using Sums = std::map<LocationId, int64_t>;

// What each location weighs with all it called, once for each stack, and what it weighs alone.
struct Counter {
  void Enter(LocationId location) { ++on_path[location]; }
  void Leave(LocationId location, const Weight& weight) {
    if (--on_path[location] == 0) cum[location] += weight.value;
  }
  void BeginTail() { tail.clear(); }
  void Tail(LocationId location, const Weight& weight) {
    if (on_path[location] == 0 && tail.insert(location).second) cum[location] += weight.value;
  }
  void EndTail() {}
  void Rows(LocationId location, const Weight& weight) { flat[location] += weight.value; }

  Sums flat;
  Sums cum;
  std::map<LocationId, int> on_path;
  std::set<LocationId> tail;
};

// `shared` outer frames are the same for all, the others are anything.
Profile RandomProfile(size_t rows, size_t shared, size_t own) {
  Profile profile;
  profile.sample_types = {{"space", "bytes"}};
  profile.locations.resize(40);
  StackBuilder builder(&profile);
  std::mt19937 random(static_cast<uint32_t>(rows + shared));
  for (size_t i = 0; i < rows; ++i) {
    std::vector<LocationId> stack(random() % own);
    for (LocationId& location : stack) location = static_cast<LocationId>(random() % 40);
    for (size_t k = 0; k < shared; ++k) stack.push_back(static_cast<LocationId>(k % 7));
    Row row;
    row.leaf = builder.Leaf(stack);
    profile.rows.push_back(row);
    profile.values.push_back(static_cast<int64_t>(random() % 5) - 1);
  }
  return profile;
}

Counter Expected(const Profile& profile) {
  Counter counter;
  std::vector<LocationId> stack;
  for (RowId row = 0; row < profile.rows.size(); ++row) {
    profile.StackOf(row, &stack);
    const int64_t value = profile.value(row, 0);
    if (stack.empty() || value == 0) continue;
    counter.flat[stack[0]] += value;
    for (const LocationId location : std::set<LocationId>(stack.begin(), stack.end())) {
      counter.cum[location] += value;
    }
  }
  return counter;
}

void Drop0(Sums* sums) {
  std::erase_if(*sums, [](const auto& sum) { return sum.second == 0; });
}

void ExpectEqual(Counter counted, Counter expected, const char* what) {
  for (Sums* sums : {&counted.flat, &counted.cum, &expected.flat, &expected.cum}) Drop0(sums);
  EXPECT_EQ(counted.flat, expected.flat) << what;
  EXPECT_EQ(counted.cum, expected.cum) << what;
}

TEST(StackWalk, SumsAreThoseOfTheRowsHoweverMuchStacksShare) {
  for (const size_t shared : {0, 2, 100}) {
    for (const size_t own : {3, 30}) {
      for (const size_t rows : {1, 20, 3000}) {
        const Profile profile = RandomProfile(rows, shared, own);
        const Counter expected = Expected(profile);
        const StackPlan plan(RowValues{&profile, 0, false});
        Counter whole;
        plan.Walk(&whole);
        ExpectEqual(whole, expected, "as a whole");
        Counter sum;
        for (uint32_t part = 0; part < 3; ++part) {
          Counter counter;
          plan.WalkPart(part, 3, &counter);
          for (const auto& [location, value] : counter.flat) sum.flat[location] += value;
          for (const auto& [location, value] : counter.cum) sum.cum[location] += value;
        }
        ExpectEqual(sum, expected, "in parts");
      }
    }
  }
}

// Locations in the order in which a visitor meets them.
struct Listener {
  void Enter(LocationId location) { met.push_back(location); }
  void Leave(LocationId, const Weight&) {}
  void BeginTail() {}
  void Tail(LocationId location, const Weight&) { met.push_back(location); }
  void EndTail() {}
  void Rows(LocationId, const Weight&) {}

  std::vector<LocationId> met;
};

TEST(StackWalk, PartsKeepTheOrderWhereStacksShareLittle) {
  const Profile profile = RandomProfile(3000, 0, 30);
  const StackPlan plan(RowValues{&profile, 0, false});
  ASSERT_TRUE(plan.parts_keep_order());
  Listener whole;
  plan.WalkPart(0, 1, &whole);
  Listener parts;
  for (uint32_t part = 0; part < 3; ++part) plan.WalkPart(part, 3, &parts);
  EXPECT_EQ(parts.met, whole.met);
}

TEST(StackWalk, NothingIsWalkedWhereNothingWeighs) {
  Profile profile = RandomProfile(10, 3, 5);
  std::fill(profile.values.begin(), profile.values.end(), 0);
  const StackPlan plan(RowValues{&profile, 0, false});
  Counter counter;
  plan.Walk(&counter);
  plan.WalkPart(0, 1, &counter);
  EXPECT_TRUE(counter.cum.empty());
}

}  // namespace
}  // namespace heapgauge::pprof
