#include "core/leaks/verdict/check_file.h"

#include <gtest/gtest.h>

#include <string>

#include "core/leaks/testing/made_up_past.h"

namespace heapgauge::leaks {
namespace {

using testing::MadeUpPast;

constexpr uint64_t kMinute = 60'000'000'000;

// A run whose stacks are told by their amounts in each dump.
class DumpEvidence : public ::testing::Test {
 protected:
  // One stack, with samples of the last dump that by themselves decide nothing.
  void Past(double samples) {
    past_.Live({.samples = samples, .lifetime = past_.Exponential(0.3)}, "Cache::Insert(int)");
    past_.Live({.samples = samples, .lifetime = past_.Exponential(0.3)}, "Other(int)");
  }
  void Series(const std::vector<double>& first, const std::vector<double>& second) {
    const KnownBlocks& known = past_.check().known;
    for (size_t i = 0; i < first.size(); ++i) {
      series_.times_ns.push_back(kMinute * (i + 1));
      series_.paths.push_back(std::to_string(i));
    }
    series_.bytes[PlacesOf(known.profile, known.stacks[0].leaf)] = first;
    series_.bytes[PlacesOf(known.profile, known.stacks[1].leaf)] = second;
  }
  const Suspect* Find(const std::vector<Suspect>& list, const std::string& function) {
    for (const Suspect& s : list) {
      if (s.function == function) return &s;
    }
    return nullptr;
  }
  Suspects Judged() {
    Suspects suspects = FindSuspects(past_.raw());
    EXPECT_TRUE(suspects.suspects.empty()) << "by itself the last dump accuses nobody";
    AddDumpEvidence(series_, past_.raw(), &suspects);
    return suspects;
  }

  MadeUpPast past_{7};
  DumpSeries series_;
};

TEST_F(DumpEvidence, WhatRisesFromDumpToDumpGrows) {
  Past(100);
  Series({1e6, 2.1e6, 2.9e6, 4.2e6, 5e6, 6.1e6, 6.8e6, 8e6},
         {3e6, 2e6, 3.5e6, 1e6, 3e6, 2e6, 3.6e6, 2e6});
  const Suspects suspects = Judged();
  ASSERT_EQ(suspects.suspects.size(), 1u);
  const Suspect& s = suspects.suspects[0];
  EXPECT_EQ(s.function, "Cache::Insert");
  EXPECT_TRUE(s.grows);
  EXPECT_NEAR(s.growth.bytes_per_second * 60, 1e6, 1e5);
  EXPECT_LT(s.growth.p, 0.01);
  EXPECT_NE(s.sentence.find("; 977 kB, 2.8 MB, 4.8 MB and 7.6 MB in 8 dumps over 7m00s"),
            std::string::npos)
      << s.sentence;
  EXPECT_EQ(s.least_live.size(), 8u);
  EXPECT_NE(Find(suspects.others, "Other"), nullptr);
}

TEST_F(DumpEvidence, TheRateIsByTheTimesOfTheDumps) {
  Past(100);
  // 1 MB in a minute; most dumps were made within the first ten.
  const std::vector<uint64_t> minutes = {1, 2, 3, 4, 5, 6, 7, 60};
  std::vector<double> amounts;
  for (const uint64_t minute : minutes) amounts.push_back(1e6 * static_cast<double>(minute));
  Series(amounts, {3e6, 2e6, 3.5e6, 1e6, 3e6, 2e6, 3.6e6, 2e6});
  for (size_t i = 0; i < minutes.size(); ++i) series_.times_ns[i] = kMinute * minutes[i];
  const Suspects suspects = Judged();
  ASSERT_EQ(suspects.suspects.size(), 1u);
  const GrowthEvidence& growth = suspects.suspects[0].growth;
  EXPECT_NEAR(growth.bytes_per_second * 60, 1e6, 1);
  EXPECT_NEAR(growth.bytes_per_second_95.low * 60, 1e6, 1);
  EXPECT_NEAR(growth.bytes_per_second_95.high * 60, 1e6, 1);
}

TEST_F(DumpEvidence, FewDumpsAccuseNobody) {
  Past(100);
  Series({1e6, 2e6, 3e6, 4e6}, {1e6, 1e6, 1e6, 1e6});
  const Suspects suspects = Judged();
  EXPECT_TRUE(suspects.suspects.empty());
  const Suspect* s = Find(suspects.others, "Cache::Insert");
  ASSERT_NE(s, nullptr);
  EXPECT_EQ(s->least_live, (std::vector<uint64_t>{1'000'000, 2'000'000, 3'000'000, 4'000'000}));
}

TEST_F(DumpEvidence, AtFirstEverythingGrows) {
  Past(100);
  const std::vector<double> rising = {1e6, 2e6, 3e6, 4e6, 5e6, 6e6, 7e6, 8e6};
  Series(rising, rising);
  for (size_t i = 0; i < rising.size(); ++i) series_.times_ns[i] = 1'000'000'000 * (i + 1);
  EXPECT_TRUE(Judged().suspects.empty());
}

TEST_F(DumpEvidence, WhatComesAndGoesDoesNotGrow) {
  Past(100);
  Series({5e6, 1e6, 5.5e6, 1.2e6, 5.4e6, 1.1e6, 5.6e6, 1e6},
         {8e6, 7e6, 6e6, 5e6, 4e6, 3e6, 2e6, 1e6});
  EXPECT_TRUE(Judged().suspects.empty());
}

TEST(DumpSeries, AddsUpWhatStacksHold) {
  MadeUpPast past(3);
  past.Live({.samples = 50}, "f()");
  const KnownBlocks& known = past.check().known;
  DumpSeries series;
  AddToSeries(known, "a", &series);
  AddToSeries(known, "b", &series);
  ASSERT_EQ(series.bytes.size(), 1u);
  const std::vector<double>& amounts = series.bytes.begin()->second;
  ASSERT_EQ(amounts.size(), 2u);
  EXPECT_EQ(amounts[0], amounts[1]);
  EXPECT_GT(amounts[0], 0);
  EXPECT_FALSE(ReadDumpSeries({"/nowhere/a.hg", "/nowhere/b.hg"}));
}

}  // namespace
}  // namespace heapgauge::leaks
