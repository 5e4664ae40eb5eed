#include "core/fold/merge.h"
#include "core/fold/scale.h"

#include <gtest/gtest.h>

#include "core/model/label_sets.h"
#include "core/model/stacks.h"

namespace heapgauge {
namespace {

// Makes small profiles: functions by name at addresses of one module.
class SmallProfile {
 public:
  explicit SmallProfile(std::vector<SampleType> types = {{"objects", "count"}, {"space", "bytes"}},
                        uint64_t start = 0x1000) {
    p_.sample_types = std::move(types);
    p_.period_type = {"space", "bytes"};
    Module module;
    module.path = "/bin/main";
    module.start = start;
    module.end = start + 0x1000;
    p_.modules.push_back(module);
  }

  LocationId At(const std::string& name, uint64_t offset) {
    Function function;
    function.name = name;
    p_.functions.push_back(function);
    Frame frame;
    frame.function = static_cast<FunctionId>(p_.functions.size() - 1);
    frame.line = 7;
    p_.frames.push_back(frame);
    Location location;
    location.address = p_.modules[0].start + offset;
    location.exact = true;
    location.module = 0;
    location.first_frame = static_cast<uint32_t>(p_.frames.size() - 1);
    location.frame_count = 1;
    p_.locations.push_back(location);
    return static_cast<LocationId>(p_.locations.size() - 1);
  }

  void Row(const std::vector<LocationId>& stack, const std::vector<int64_t>& values,
           const std::string& label = "") {
    heapgauge::Row row;
    row.leaf = StackBuilder(&p_).Leaf(stack);
    if (!label.empty()) {
      Label l;
      l.key = LabelStrings(&p_).Add("key");
      l.text = LabelStrings(&p_).Add(label);
      row.labels = LabelSets(&p_).Add({&l, 1});
    }
    p_.rows.push_back(row);
    p_.values.insert(p_.values.end(), values.begin(), values.end());
  }

  Profile& profile() { return p_; }

 private:
  Profile p_;
};

// "inner outer key=x: 1 2"
std::vector<std::string> Rows(const Profile& p) {
  EXPECT_TRUE(p.Check()) << p.Check().error().message;
  std::vector<std::string> rows;
  std::vector<LocationId> stack;
  for (RowId row = 0; row < p.rows.size(); ++row) {
    std::string text;
    p.StackOf(row, &stack);
    for (const LocationId id : stack) {
      text += p.functions[p.frames[p.locations[id].first_frame].function].name + " ";
    }
    for (const Label& label : p.LabelsOf(row)) {
      text += p.strings[label.key] + "=" + p.strings[label.text] + " ";
    }
    for (size_t i = 0; i < p.sample_types.size(); ++i)
      text += std::to_string(p.value(row, i)) + " ";
    text.pop_back();
    rows.push_back(text);
  }
  return rows;
}

using Strings = std::vector<std::string>;

Result<Profile> Merge(std::initializer_list<Profile> profiles) {
  return MergeProfiles(std::vector<Profile>(profiles));
}

TEST(Merge, AddsUpEqualStacksAndLeavesZerosOut) {
  SmallProfile m;
  const LocationId f = m.At("f", 1);
  const LocationId g = m.At("g", 2);
  const LocationId unused = m.At("unused", 3);
  m.Row({unused}, {0, 0});
  m.Row({g, f}, {1, 10});
  m.Row({f}, {2, 20});
  m.Row({g, f}, {3, 30});
  m.Row({g, f}, {4, 40}, "x");
  m.Row({g, f}, {5, 50}, "y");
  m.Row({g, f}, {6, 60}, "x");
  const auto p = Merge({m.profile()});
  ASSERT_TRUE(p);
  EXPECT_EQ(Rows(*p), (Strings{"g f 4 40", "f 2 20", "g f key=x 10 100", "g f key=y 5 50"}));
  EXPECT_EQ(p->locations.size(), 2u);
  EXPECT_EQ(p->functions.size(), 2u);
  EXPECT_EQ(p->functions[0].name, "g") << "numbered as they are met, innermost first";
}

TEST(Merge, AddsUpWhatIsSaidAboutTheRecordings) {
  std::vector<Profile> profiles;
  for (uint32_t i = 0; i < 3; ++i) {
    SmallProfile m;
    m.Row({m.At("f", 1)}, {1, 10});
    RecordingFacts& r = m.profile().recording;
    r.pid = 10 + i;
    r.samples = 100;
    r.lost = {{"no room", 1}};
    r.exact = r.has_peak = true;
    r.peak_bytes = 1000;
    r.moment = i < 2 ? "at the end" : "at 5s";
    profiles.push_back(m.profile());
  }
  const auto merged = MergeProfiles(std::move(profiles));
  ASSERT_TRUE(merged);
  const RecordingFacts& r = merged->recording;
  EXPECT_EQ(r.pid, 10u);
  EXPECT_EQ(r.others, 2u);
  EXPECT_EQ(r.samples, 300u);
  EXPECT_EQ(r.lost_samples(), 3u);
  EXPECT_EQ(r.moment, "at the end, at 5s");
  EXPECT_TRUE(r.exact);
  EXPECT_FALSE(r.has_peak) << "they are at several times";
}

TEST(Merge, TheSameCodeLoadedElsewhereIsTheSame) {
  SmallProfile a;
  a.Row({a.At("f", 1)}, {1, 1});
  SmallProfile b({{"objects", "count"}, {"space", "bytes"}}, 0x555000);
  b.Row({b.At("g", 2), b.At("f", 1)}, {1, 1});
  b.Row({b.At("f", 1)}, {2, 2});
  const auto p = Merge({a.profile(), b.profile()});
  ASSERT_TRUE(p);
  EXPECT_EQ(Rows(*p), (Strings{"f 3 3", "g f 1 1"}));
  EXPECT_EQ(p->modules.size(), 1u);
  EXPECT_EQ(p->locations.size(), 2u);
  EXPECT_EQ(p->locations[1].address, 0x1002u) << "in the first profile's terms";
}

TEST(Merge, LocationsThatAreTheSameTwiceBecomeOne) {
  SmallProfile m;
  const LocationId f1 = m.At("f", 1);
  const LocationId f2 = m.At("f", 1);
  const LocationId g = m.At("g", 2);
  m.Row({g, f1}, {1, 1});
  m.Row({g, f2}, {2, 2});
  const auto p = Merge({m.profile()});
  ASSERT_TRUE(p);
  EXPECT_EQ(Rows(*p), Strings{"g f 3 3"});
  EXPECT_EQ(p->nodes.size(), 2u);
}

TEST(Merge, NodesThatAreThereTwiceDoNotKeepRowsApart) {
  SmallProfile m;
  const LocationId f = m.At("f", 1);
  m.profile().nodes = {{kNone, f}, {kNone, f}};
  m.profile().rows.resize(2);
  m.profile().rows[0].leaf = 0;
  m.profile().rows[1].leaf = 1;
  m.profile().values = {1, 1, 2, 2};
  const auto p = Merge({m.profile()});
  ASSERT_TRUE(p);
  EXPECT_EQ(Rows(*p), Strings{"f 3 3"});
}

TEST(Merge, WhatCancelsOutGoesWithAllItNeeded) {
  SmallProfile a;
  a.Row({a.At("f", 1)}, {1, 1});
  a.Row({a.At("g", 2)}, {5, 5});
  SmallProfile b;
  b.Row({b.At("f", 1)}, {-1, -1});
  const auto p = Merge({a.profile(), b.profile()});
  ASSERT_TRUE(p);
  EXPECT_EQ(Rows(*p), Strings{"g 5 5"});
  EXPECT_EQ(p->locations.size(), 1u);
}

TEST(Merge, CombinesWhatIsSaidAboutTheWhole) {
  SmallProfile a;
  a.profile().time_ns = 200;
  a.profile().duration_ns = 5;
  a.profile().period = 10;
  a.profile().comments = {"x", "y"};
  a.profile().drop_frames = "malloc";
  SmallProfile b;
  b.profile().time_ns = 100;
  b.profile().duration_ns = 7;
  b.profile().period = 20;
  b.profile().comments = {"y", "z"};
  b.profile().drop_frames = "other";
  b.profile().default_type = 1;
  b.profile().doc_url = "url";
  b.profile().notes = {"a note"};
  const auto p = Merge({a.profile(), b.profile()});
  ASSERT_TRUE(p);
  EXPECT_EQ(p->time_ns, 100);
  EXPECT_EQ(p->duration_ns, 12);
  EXPECT_EQ(p->period, 20);
  EXPECT_EQ(p->comments, (Strings{"x", "y", "z"}));
  EXPECT_EQ(p->drop_frames, "malloc");
  EXPECT_EQ(p->default_type, 1u);
  EXPECT_EQ(p->doc_url, "url");
  EXPECT_EQ(p->notes, Strings{"a note"});
}

TEST(Merge, CommonTypesAreTakenByName) {
  SmallProfile go({{"alloc_objects", "count"},
                   {"alloc_space", "bytes"},
                   {"inuse_objects", "count"},
                   {"inuse_space", "bytes"}});
  go.Row({go.At("f", 1)}, {1, 2, 3, 4});
  SmallProfile cpp({{"space", "kB"}, {"objects", "count"}});
  cpp.Row({cpp.At("f", 1)}, {10, 20});
  const auto p = Merge({go.profile(), cpp.profile()});
  ASSERT_TRUE(p) << p.error().message;
  EXPECT_EQ(Rows(*p), Strings{"f 23 10244"});
  ASSERT_EQ(p->sample_types.size(), 2u);
  EXPECT_EQ(p->sample_types[1].name, "inuse_space");
  EXPECT_EQ(p->sample_types[1].unit, "bytes");
  ASSERT_EQ(p->notes.size(), 1u);
  EXPECT_NE(p->notes[0].find("only those that all have are merged"), std::string::npos);
}

TEST(Merge, NothingInCommonIsAnError) {
  SmallProfile a(std::vector<SampleType>{{"cpu", "nanoseconds"}});
  SmallProfile b(std::vector<SampleType>{{"space", "bytes"}});
  const auto p = Merge({a.profile(), b.profile()});
  ASSERT_FALSE(p);
  EXPECT_EQ(p.error().message,
            "the profiles cannot be merged, no sample type is common to them: cpu/nanoseconds and "
            "space/bytes");
  EXPECT_FALSE(MergeProfiles({}));
}

TEST(Merge, EstimatesAndBlocksFollowTheirRows) {
  SmallProfile a;
  const LocationId f = a.At("f", 1);
  a.Row({}, {0, 0});
  a.Row({f}, {1, 10});
  a.Row({f}, {1, 10});
  a.profile().estimates.resize(6);
  for (size_t i = 2; i < 6; ++i) a.profile().estimates[i] = {10, 4, 1, 1, 1};
  a.profile().blocks.resize(2);
  a.profile().blocks[0].row = 2;
  a.profile().blocks[1].row = 1;
  SmallProfile b;
  b.Row({b.At("f", 1)}, {5, 5});
  const auto p = Merge({a.profile(), b.profile()});
  ASSERT_TRUE(p);
  EXPECT_EQ(Rows(*p), Strings{"f 7 25"});
  EXPECT_EQ(p->estimate(0, 1).value, 25);
  EXPECT_EQ(p->estimate(0, 1).variance, 8);
  ASSERT_EQ(p->blocks.size(), 2u);
  EXPECT_EQ(p->blocks[0].row, 0u);
  EXPECT_EQ(p->blocks[1].row, 0u);
}

TEST(Merge, TextsAndSetsThatAreThereTwiceAreTheSame) {
  SmallProfile m;
  const LocationId f = m.At("f", 1);
  m.Row({f}, {1, 1}, "x");
  m.Row({f}, {2, 2});
  m.profile().strings.push_back("x");
  m.profile().labels.push_back({0, 2, kNone, 0});
  m.profile().label_sets.push_back({1, 1});
  m.profile().rows[1].labels = 1;
  const auto p = Merge({m.profile()});
  ASSERT_TRUE(p);
  EXPECT_EQ(Rows(*p), Strings{"f key=x 3 3"});
}

TEST(Scale, RoundsAndDropsRowsWithoutAValue) {
  SmallProfile m;
  m.Row({m.At("f", 1)}, {3, 100});
  m.Row({m.At("g", 2)}, {1, 1});
  ScaleProfile(0.5, &m.profile());
  EXPECT_EQ(Rows(m.profile()), (Strings{"f 2 50", "g 1 1"})) << "halves go away from zero";
  ScaleProfile(std::vector<double>{1, 0.1}, &m.profile());
  EXPECT_EQ(Rows(m.profile()), Strings{"f 2 5"}) << "what is not scaled does not save a row";
  ScaleProfile(-1, &m.profile());
  EXPECT_EQ(Rows(m.profile()), Strings{"f -2 -5"});
  ScaleProfile(1e300, &m.profile());
  EXPECT_LT(m.profile().value(0, 1), -9'000'000'000'000'000'000);
}

TEST(Scale, NormalizesToTheTotalsOfAnother) {
  SmallProfile base;
  base.Row({base.At("f", 1)}, {10, 0});
  SmallProfile m;
  m.Row({m.At("f", 1)}, {4, 8});
  m.Row({m.At("g", 2)}, {1, 8});
  ASSERT_TRUE(NormalizeTo(base.profile(), &m.profile()));
  EXPECT_EQ(Rows(m.profile()), (Strings{"f 8 0", "g 2 0"}));
  SmallProfile other(std::vector<SampleType>{{"cpu", "ns"}});
  EXPECT_FALSE(NormalizeTo(other.profile(), &m.profile()));
}

}  // namespace
}  // namespace heapgauge
