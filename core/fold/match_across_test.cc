#include "core/fold/match_across.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "core/model/testing/profile_maker.h"

namespace heapgauge {
namespace {

using testing::Maker;

// Profiles side by side, and what is the same in them.
class Sides {
 public:
  explicit Sides(Granularity granularity = Granularity::kFunctions) : granularity_(granularity) {}

  void Add(Maker* maker) {
    profiles_.push_back(&maker->profile());
    entities_.push_back(std::make_unique<Entities>(maker->profile(), granularity_));
    std::vector<MatchSide> sides;
    for (size_t i = 0; i < profiles_.size(); ++i) {
      sides.push_back({profiles_[i], entities_[i].get()});
    }
    matched_ = MatchAcross(sides);
  }
  uint32_t Thing(size_t side, LocationId location) const {
    return matched_.thing_of[side][entities_[side]->Of(location, 0)];
  }
  bool Same(LocationId first, LocationId second) const {
    return Thing(0, first) == Thing(1, second);
  }
  size_t things() const { return matched_.things; }

 private:
  Granularity granularity_;
  std::vector<const Profile*> profiles_;
  std::vector<std::unique_ptr<Entities>> entities_;
  MatchedEntities matched_;
};

ModuleId Built(Maker* m, const std::string& path, const std::string& build_id) {
  const ModuleId id = m->Module(path);
  m->profile().modules[id].build_id = build_id;
  return id;
}

TEST(MatchAcross, FunctionsOfBuildsInTwoDirectoriesAreTheSame) {
  Maker a, b;
  const auto one = a.Function("cache", 2, "/srv/app-1.0/a.c", Built(&a, "/srv/app-1.0/x", "aa"));
  const auto two = b.Function("cache", 3, "/srv/app-1.1/a.c", Built(&b, "/srv/app-1.1/x", "bb"));
  const auto other = b.Function("other", 3, "/srv/app-1.1/a.c", 0);
  Sides sides;
  sides.Add(&a);
  sides.Add(&b);
  EXPECT_TRUE(sides.Same(one, two));
  EXPECT_FALSE(sides.Same(one, other));
  EXPECT_EQ(sides.things(), 2u);
}

TEST(MatchAcross, EqualNamesAreToldApartByAsMuchOfThePathAsItTakes) {
  Maker a, b;
  const auto read_a = a.Function("init", 1, "/one/read/main.c");
  const auto write_a = a.Function("init", 1, "/one/write/main.c");
  const auto write_b = b.Function("init", 1, "/two/write/main.c");
  const auto read_b = b.Function("init", 1, "/two/read/main.c");
  Sides sides;
  sides.Add(&a);
  sides.Add(&b);
  EXPECT_TRUE(sides.Same(read_a, read_b));
  EXPECT_TRUE(sides.Same(write_a, write_b));
  EXPECT_EQ(sides.things(), 2u);
}

TEST(MatchAcross, ANameThatMeansTwoThingsDecidesNothing) {
  Maker a, b;
  const auto before = a.Function("init", 1, "/old/x.c");
  const auto first = b.Function("init", 1, "/new/a/x.c");
  const auto second = b.Function("init", 1, "/new/b/x.c");
  Sides sides;
  sides.Add(&a);
  sides.Add(&b);
  EXPECT_FALSE(sides.Same(before, first));
  EXPECT_FALSE(sides.Same(before, second));
}

TEST(MatchAcross, WhatIsWhollyTheSameComesFirst) {
  Maker a, b;
  const auto stays_a = a.Function("init", 1, "/src/a/x.c");
  const auto goes = a.Function("init", 1, "/src/b/x.c");
  const auto stays_b = b.Function("init", 1, "/src/a/x.c");
  Sides sides;
  sides.Add(&a);
  sides.Add(&b);
  EXPECT_TRUE(sides.Same(stays_a, stays_b));
  EXPECT_FALSE(sides.Same(goes, stays_b));
}

TEST(MatchAcross, FilesOfOneBuildAreDifferentWhateverTheirNames) {
  Maker a, b;
  const auto one = a.Function("init", 1, "/src/a/x.c", Built(&a, "/bin/x", "aa"));
  const auto two = b.Function("init", 1, "/src/b/x.c", Built(&b, "/bin/x", "aa"));
  Sides sides;
  sides.Add(&a);
  sides.Add(&b);
  EXPECT_FALSE(sides.Same(one, two)) << "each was met in one of two dumps of a process";
}

TEST(MatchAcross, AToolThatKnowsNoFilesOrLinkerNamesIsMatchedByWhatPeopleRead) {
  Maker a, b;
  const auto program = Built(&a, "/bin/x", "aa");
  const auto ours = a.Function("Grow(int)", 7, "/src/a.cc", program, "_Z4Growi");
  const auto overload = a.Function("Grow(long)", 7, "/src/a.cc", program, "_Z4Growl");
  const auto theirs = b.Function("Grow(int)", 0, "");
  const auto with_file = b.Function("Grow(long)", 8, "a.cc");
  Sides sides;
  sides.Add(&a);
  sides.Add(&b);
  EXPECT_TRUE(sides.Same(ours, theirs));
  EXPECT_TRUE(sides.Same(overload, with_file));
  EXPECT_EQ(sides.things(), 2u);
}

TEST(MatchAcross, AStaticFunctionMayMoveWithinItsFile) {
  Maker a, b;
  // gcc has no linker's name for it: the line of its declaration stands in for that.
  const auto one =
      a.Function("Grow(int)", 7, "/src/a.cc", Built(&a, "/bin/x", "aa"), "Grow(int):5");
  const auto two =
      b.Function("Grow(int)", 9, "/src/a.cc", Built(&b, "/bin/x", "bb"), "Grow(int):8");
  const auto plain_a = a.Function("Shrink(long int)", 7, "/src/a.cc", 0);
  const auto plain_b = b.Function("Shrink", 7, "/src/a.cc", 0);
  Sides sides;
  sides.Add(&a);
  sides.Add(&b);
  EXPECT_TRUE(sides.Same(one, two));
  EXPECT_TRUE(sides.Same(plain_a, plain_b));
}

TEST(MatchAcross, ALambdaMayMoveWithinItsFunction) {
  Maker a, b;
  const auto one = a.Function("Work()::{unnamed type, line 6}::operator()()", 6, "/srv/1/a.cc",
                              Built(&a, "/srv/1/x", "aa"));
  const auto two = b.Function("Work()::{unnamed type, line 8}::operator()()", 8, "/srv/2/a.cc",
                              Built(&b, "/srv/2/x", "bb"));
  Sides sides;
  sides.Add(&a);
  sides.Add(&b);
  EXPECT_TRUE(sides.Same(one, two));
}

TEST(MatchAcross, FunctionsOfDifferentPluginsAreNotTheSame) {
  Maker a, b;
  a.Module("/bin/one");
  b.Module("/bin/two");
  const auto one = a.Function("create", 0, "", a.Module("/lib/png.so"));
  const auto two = b.Function("create", 0, "", b.Module("/lib/jpeg.so"));
  const auto main_a = a.Function("main", 0, "", 0);
  const auto main_b = b.Function("main", 0, "", 0);
  Sides sides;
  sides.Add(&a);
  sides.Add(&b);
  EXPECT_FALSE(sides.Same(one, two));
  EXPECT_TRUE(sides.Same(main_a, main_b)) << "the program may have another name";
}

TEST(MatchAcross, ModulesGoByBaseNameUnlessOneProfileHasTwoOfIt) {
  Maker a, b;
  const auto x_a = a.Function("f", 0, "", a.Module("/one/x"));
  const auto x_b = b.Function("f", 0, "", b.Module("/two/x"));
  const auto y_a = a.Function("f", 0, "", a.Module("/one/plugin.so"));
  const auto y_b = b.Function("f", 0, "", b.Module("/two/left/plugin.so"));
  const auto y_c = b.Function("f", 0, "", b.Module("/two/right/plugin.so"));
  Sides sides(Granularity::kModules);
  sides.Add(&a);
  sides.Add(&b);
  EXPECT_TRUE(sides.Same(x_a, x_b));
  EXPECT_FALSE(sides.Same(y_a, y_b));
  EXPECT_FALSE(sides.Same(y_a, y_c));
  EXPECT_EQ(sides.things(), 4u);
}

TEST(MatchAcross, VersionsOfALibraryTellApartOnlyWhereOneProfileHasBoth) {
  Maker a, b;
  const auto cxx_a = a.Function("f", 0, "", a.Module("/lib/libstdc++.so.6"));
  const auto cxx_b = b.Function("f", 0, "", b.Module("/lib/libstdc++.so.6.0.30"));
  const auto ssl_a = a.Function("g", 0, "", a.Module("/lib/libssl.so.2"));
  const auto ssl_b = b.Function("g", 0, "", b.Module("/lib/libssl.so.1.1"));
  const auto ssl_c = b.Function("g", 0, "", b.Module("/lib/libssl.so.3"));
  for (const Granularity granularity : {Granularity::kFunctions, Granularity::kModules}) {
    Sides sides(granularity);
    sides.Add(&a);
    sides.Add(&b);
    EXPECT_TRUE(sides.Same(cxx_a, cxx_b));
    EXPECT_FALSE(sides.Same(ssl_a, ssl_b));
    EXPECT_FALSE(sides.Same(ssl_a, ssl_c));
  }
}

TEST(MatchAcross, AddressesAreThoseOfOneBuild) {
  Maker a, b;
  const auto one = a.Function("x+0x10", 0, "", Built(&a, "/one/x", "aa"));
  const auto copy = b.Function("x+0x10", 0, "", Built(&b, "/two/x", "aa"));
  const auto lib_a = a.Function("y+0x20", 0, "", Built(&a, "/one/y", "cc"));
  const auto lib_b = b.Function("y+0x20", 0, "", Built(&b, "/two/y", "dd"));
  for (Maker* m : {&a, &b}) {
    for (Function& function : m->profile().functions) function.placeholder = true;
  }
  for (const Granularity granularity : {Granularity::kFunctions, Granularity::kAddresses}) {
    Sides sides(granularity);
    sides.Add(&a);
    sides.Add(&b);
    EXPECT_TRUE(sides.Same(one, copy)) << "the same file elsewhere";
    EXPECT_FALSE(sides.Same(lib_a, lib_b)) << GranularityName(granularity);
  }
}

TEST(MatchAcross, LinesAndFilesGoByTheirNamesToo) {
  for (const Granularity granularity : {Granularity::kLines, Granularity::kFiles}) {
    Maker a, b;
    const auto one = a.Function("f", 7, "/one/x.c");
    const auto two = b.Function("f", 7, "/two/x.c");
    const auto other = b.Function("f", 8, "/two/y.c");
    Sides sides(granularity);
    sides.Add(&a);
    sides.Add(&b);
    EXPECT_TRUE(sides.Same(one, two)) << GranularityName(granularity);
    EXPECT_FALSE(sides.Same(one, other)) << GranularityName(granularity);
  }
}

TEST(MatchAcross, MoreThanTwoProfilesShareTheirNumbers) {
  Maker a, b, c;
  const auto one = a.Function("f", 1, "/one/x.c");
  const auto two = b.Function("f", 1, "/two/x.c");
  const auto three = c.Function("f", 1, "/three/x.c");
  Sides sides;
  sides.Add(&a);
  sides.Add(&b);
  sides.Add(&c);
  EXPECT_EQ(sides.Thing(0, one), sides.Thing(1, two));
  EXPECT_EQ(sides.Thing(0, one), sides.Thing(2, three));
}

}  // namespace
}  // namespace heapgauge
