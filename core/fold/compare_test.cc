#include "core/fold/compare.h"

#include <gtest/gtest.h>

#include "core/model/testing/profile_maker.h"

namespace heapgauge {
namespace {

using testing::Maker;

Comparison Compared(const std::vector<const Profile*>& profiles,
                    const FunctionOptions& options = {}) {
  auto made = Compare(profiles, options);
  EXPECT_TRUE(made) << made.error().message;
  return made ? *made : Comparison{};
}

std::string NameOf(const Profile& p, const FunctionReport& report, uint32_t row) {
  return p.functions[report.rows[row].function].name;
}

TEST(Compare, TellsNewGoneGrownAndShrunkApartLargestChangeFirst) {
  Maker a;
  a.Row({a.Function("stays"), a.Function("main")}, 500);
  a.Row({a.Function("grows")}, 100);
  a.Row({a.Function("shrinks")}, 90);
  a.Row({a.Function("goes")}, 1000);
  Maker b;
  b.Row({b.Function("comes")}, 60);
  b.Row({b.Function("grows")}, 800);
  b.Row({b.Function("stays"), b.Function("main")}, 500);
  b.Row({b.Function("shrinks")}, 40);
  const Comparison made = Compared({&a.profile(), &b.profile()});
  ASSERT_EQ(made.rows.size(), 5u);
  EXPECT_EQ(made.rows[0].figures.kind, ChangeKind::kGone);
  EXPECT_EQ(made.rows[0].figures.change, -1000);
  EXPECT_EQ(NameOf(a.profile(), made.before, made.rows[0].in_before), "goes");
  EXPECT_EQ(made.rows[0].in_after, kNone);
  EXPECT_EQ(made.rows[1].figures.kind, ChangeKind::kGrown);
  EXPECT_EQ(made.rows[1].figures.change, 700);
  EXPECT_EQ(made.rows[2].figures.kind, ChangeKind::kNew);
  EXPECT_EQ(made.rows[3].figures.kind, ChangeKind::kShrunk);
  EXPECT_EQ(made.rows[4].figures.kind, ChangeKind::kSame);
  EXPECT_FALSE(made.has_ranges);
  EXPECT_TRUE(made.rows[1].figures.beyond_chance) << "exact figures differ for a reason";
  EXPECT_EQ(made.total.change, 1400 - 1690);
}

// One that saw everything: blocks and bytes of functions.
struct Held {
  const char* function;
  int64_t blocks;
  int64_t bytes;
};
Profile Exact(const std::vector<Held>& all) {
  Maker m;
  for (const Held& one : all) {
    m.Row({m.Function(one.function)}, static_cast<double>(one.bytes));
    m.profile().rows.back().samples = m.profile().rows.back().live_samples = 0;
    m.profile().value(static_cast<RowId>(m.profile().rows.size() - 1), kInuseObjects) = one.blocks;
  }
  return m.profile();
}

TEST(Compare, ByBlocks) {
  const Profile a = Exact({{"large", 1, 1'000'000}, {"small", 10, 100}, {"resized", 4, 64}});
  const Profile b = Exact({{"large", 2, 9'000'000}, {"small", 90, 900}, {"resized", 4, 640}});
  FunctionOptions options;
  options.sort = SortKey::kCount;
  const Comparison made = Compared({&a, &b}, options);
  EXPECT_TRUE(made.by_count);
  EXPECT_EQ(made.after.measures.type, "inuse_objects");
  EXPECT_EQ(made.after.measures.unit, "count");
  EXPECT_EQ(made.total.before.value, 15);
  EXPECT_EQ(made.total.after.value, 96);
  EXPECT_EQ(made.series, (std::vector<double>{15, 96}));
  ASSERT_EQ(made.rows.size(), 3u);
  EXPECT_EQ(NameOf(b, made.after, made.rows[0].in_after), "small");
  EXPECT_EQ(made.rows[0].figures.change, 80);
  EXPECT_EQ(made.rows[1].figures.change, 1);
  EXPECT_EQ(made.rows[2].figures.kind, ChangeKind::kSame);
}

// The same without how many blocks the bytes are, as massif tells it.
Profile WithoutCounts(const Profile& from) {
  Profile p = from;
  p.sample_types = {from.sample_types[kInuseSpace]};
  p.values.clear();
  for (RowId row = 0; row < from.rows.size(); ++row) {
    p.values.push_back(from.value(row, kInuseSpace));
  }
  return p;
}

TEST(Compare, CountsThatOneSideLacksAreNoChange) {
  const Profile counted = Exact({{"stays", 3, 100}, {"grows", 2, 16}, {"empty", 5, 0}});
  const Profile bare = WithoutCounts(counted);
  EXPECT_TRUE(Compared({&counted, &counted}).has_objects);
  for (const auto& [a, b] : {std::pair(&counted, &bare), std::pair(&bare, &counted)}) {
    const Comparison made = Compared({a, b});
    EXPECT_FALSE(made.has_objects);
    EXPECT_EQ(made.total.objects_change(), 0);
    ASSERT_EQ(made.rows.size(), 2u);
    for (const ChangeRow& row : made.rows) EXPECT_EQ(row.figures.kind, ChangeKind::kSame);
  }
}

TEST(Compare, BytesAllocatedMayHaveNoCount) {
  Profile p = Exact({{"f", 3, 100}});
  p.sample_types[kAllocObjects].name = "something_else";
  FunctionOptions options;
  EXPECT_TRUE(Compared({&p, &p}, options).has_objects);
  options.sort = SortKey::kAllocated;
  const Comparison made = Compared({&p, &p}, options);
  EXPECT_TRUE(made.by_allocated);
  EXPECT_FALSE(made.has_objects);
}

TEST(Compare, BlocksOfNoBytesAreAChange) {
  const Profile a = Exact({{"goes", 3, 0}, {"other", 2, 16}, {"joined", 2, 16}});
  const Profile b = Exact({{"comes", 300, 0}, {"other", 2, 17}, {"joined", 1, 16}});
  const Comparison made = Compared({&a, &b});
  ASSERT_EQ(made.rows.size(), 4u);
  EXPECT_EQ(NameOf(b, made.after, made.rows[0].in_after), "other");
  const Change& comes = made.rows[1].figures;
  EXPECT_EQ(comes.kind, ChangeKind::kNew);
  EXPECT_TRUE(comes.beyond_chance);
  EXPECT_EQ(comes.objects_after, 300);
  EXPECT_EQ(made.rows[2].figures.kind, ChangeKind::kGone);
  EXPECT_EQ(made.rows[3].figures.kind, ChangeKind::kShrunk) << "as many bytes in fewer blocks";
  double objects = 0;
  for (const ChangeRow& row : made.rows) objects += row.figures.objects_change();
  EXPECT_EQ(objects, made.total.objects_change());
}

// A sampled profile with `samples` blocks of 1000 bytes under one function.
Profile Sampled(size_t samples, uint64_t first_address = 0, uint32_t pid = 0) {
  Maker m;
  m.Row({m.Function("f"), m.Function("main")}, 1);
  Profile& p = m.profile();
  p.recording.interval = p.recording.interval_in_force = 100'000;
  p.recording.pid = pid;
  p.recording.program = "/bin/x";
  p.estimates.assign(p.values.size(), {});
  const SampleWeight weight = WeightOf(1000, 100'000);
  for (size_t i = 0; i < samples; ++i) {
    p.estimates[kInuseSpace].Add(BytesEstimate(1000, weight));
    p.estimates[kInuseObjects].Add(ObjectsEstimate(weight));
    SampledBlock block;
    block.row = 0;
    block.address = first_address + i * 4096;
    block.size = 1000;
    block.interval = 100'000;
    block.birth_ns = 1 + i;
    p.blocks.push_back(block);
  }
  p.rows[0].live_samples = samples;
  p.RoundEstimates();
  return p;
}

TEST(Compare, ADifferenceThatChanceExplainsIsMarked) {
  const Profile before = Sampled(100);
  const Profile after = Sampled(110);
  const Comparison made = Compared({&before, &after});
  EXPECT_FALSE(made.by_block) << "different processes";
  ASSERT_EQ(made.rows.size(), 1u);
  EXPECT_TRUE(made.has_ranges);
  EXPECT_FALSE(made.rows[0].figures.beyond_chance);
  EXPECT_LT(made.rows[0].figures.range.low, 0);
  EXPECT_GT(made.rows[0].figures.range.high, made.rows[0].figures.change);
}

TEST(Compare, ALargeDifferenceIsBeyondChance) {
  const Profile before = Sampled(100);
  const Profile after = Sampled(200);
  EXPECT_TRUE(Compared({&before, &after}).rows[0].figures.beyond_chance);
  EXPECT_TRUE(Compared({&after, &before}).rows[0].figures.beyond_chance);
}

TEST(Compare, OneSampleMoreThanNoneIsNotNews) {
  const Profile before = Sampled(0);
  const Profile after = Sampled(1);
  const Comparison made = Compared({&before, &after});
  ASSERT_EQ(made.rows.size(), 1u);
  EXPECT_EQ(made.rows[0].figures.kind, ChangeKind::kNew);
  EXPECT_FALSE(made.rows[0].figures.beyond_chance);
}

// A sample of these stands for about 100 blocks.
TEST(Compare, ByBlocksAsSureAsInBytes) {
  const Profile nothing = Sampled(0);
  const Profile few = Sampled(2);
  const Profile many = Sampled(60);
  FunctionOptions by_count;
  by_count.sort = SortKey::kCount;
  EXPECT_FALSE(Compared({&nothing, &few}, by_count).rows.at(0).figures.beyond_chance);
  for (const Profile* before : {&nothing, &few}) {
    const Change change = Compared({before, &many}, by_count).rows.at(0).figures;
    EXPECT_TRUE(change.beyond_chance);
    EXPECT_GT(change.range.low, 2000);
    EXPECT_LT(change.range.high, 10'000);
  }
  const Profile once = Sampled(20, 0x1000, 7);
  const Profile again = Sampled(24, 0x1000, 7);
  const Comparison made = Compared({&once, &again}, by_count);
  EXPECT_TRUE(made.by_block);
  EXPECT_NEAR(made.total.came.value, 402, 1);
  EXPECT_EQ(made.total.went.value, 0);
}

TEST(Compare, BlocksOfOneProcessThatStayedAddNoDoubt) {
  const Profile before = Sampled(100, 0, 7);
  const Profile after = Sampled(110, 0, 7);
  const Comparison made = Compared({&before, &after});
  EXPECT_TRUE(made.by_block);
  const Change& c = made.rows[0].figures;
  EXPECT_TRUE(c.beyond_chance) << "ten new blocks, none gone: " << c.range.low;
  EXPECT_EQ(c.went.value, 0);
  EXPECT_NEAR(c.came.value, c.change, 1);
  EXPECT_NEAR(made.total.came.value, c.came.value, 1);
}

TEST(Compare, TurnoverOfBlocksIsToldFromStandstill) {
  const Profile before = Sampled(100, 0, 7);
  const Profile after = Sampled(100, 1 << 30, 7);
  const Comparison made = Compared({&before, &after});
  EXPECT_EQ(made.rows[0].figures.kind, ChangeKind::kSame);
  EXPECT_GT(made.rows[0].figures.came.value, 9e6);
  EXPECT_GT(made.rows[0].figures.went.value, 9e6);
}

TEST(Compare, ExactRangesOfOneTraceDifferForAReason) {
  // What was allocated in two ranges of one trace: neither holds the other.
  Maker a;
  a.Row({a.Function("less")}, 0, 900);
  a.Row({a.Function("more")}, 0, 100);
  Maker b;
  b.Row({b.Function("less")}, 0, 300);
  b.Row({b.Function("more")}, 0, 150);
  for (Maker* m : {&a, &b}) {
    m->profile().recording.pid = 7;
    m->profile().recording.exact = true;
  }
  FunctionOptions options;
  options.sort = SortKey::kAllocated;
  const Comparison made = Compared({&a.profile(), &b.profile()}, options);
  EXPECT_TRUE(made.same_process && made.by_allocated);
  ASSERT_EQ(made.rows.size(), 2u);
  EXPECT_EQ(made.rows[0].figures.change, -600);
  EXPECT_TRUE(made.rows[0].figures.beyond_chance);
  EXPECT_EQ(made.rows[0].figures.range.low, -600);
  EXPECT_EQ(made.rows[0].figures.range.high, -600);
  EXPECT_TRUE(made.rows[1].figures.beyond_chance);
  EXPECT_EQ(made.total.change, -550);
  EXPECT_TRUE(made.total.beyond_chance);
}

// A sampled counter of all that one process allocated, after a time.
Profile Counted(size_t samples, uint64_t duration_ns) {
  Profile p = Sampled(samples, 0, 7);
  for (size_t i = 0; i < samples; ++i) {
    p.estimates[kAllocSpace].Add(BytesEstimate(1000, WeightOf(1000, 100'000)));
  }
  p.recording.duration_ns = duration_ns;
  p.RoundEstimates();
  return p;
}

TEST(Compare, ACounterIsAsSureWithTheNewerProfileFirst) {
  const Profile early = Counted(100, 1'000'000'000);
  const Profile late = Counted(120, 2'000'000'000);
  FunctionOptions options;
  options.sort = SortKey::kAllocated;
  const Change forth = Compared({&early, &late}, options).rows[0].figures;
  const Change back = Compared({&late, &early}, options).rows[0].figures;
  EXPECT_TRUE(forth.beyond_chance);
  EXPECT_TRUE(back.beyond_chance);
  EXPECT_NEAR(back.range.low, -forth.range.high, 1);
  EXPECT_NEAR(back.range.high, -forth.range.low, 1);
}

TEST(Compare, ASeriesShowsEveryStep) {
  const Profile p[] = {Sampled(10), Sampled(20), Sampled(15), Sampled(40)};
  const Comparison made = Compared({&p[0], &p[1], &p[2], &p[3]});
  ASSERT_EQ(made.rows[0].series.size(), 4u);
  EXPECT_EQ(made.rows[0].rises, 2u);
  EXPECT_EQ(made.rows[0].falls, 1u);
  EXPECT_EQ(made.series, made.rows[0].series);
}

TEST(Compare, APeakIsWhatWasLiveAtAMoment) {
  const Profile moment = Exact({{"f", 3, 100}});
  Profile peak = Exact({{"f", 2, 60}});
  peak.sample_types[kInuseSpace].name = "peak_space";
  peak.sample_types[kInuseObjects].name = "peak_objects";
  peak.default_type = kInuseSpace;
  using Profiles = std::vector<const Profile*>;
  for (const Profiles& both : {Profiles{&moment, &peak}, Profiles{&peak, &moment}}) {
    const Comparison made = Compared(both);
    EXPECT_EQ(std::fabs(made.total.change), 40);
    EXPECT_TRUE(made.has_objects);
    EXPECT_EQ(std::fabs(made.total.objects_change()), 1);
  }
}

TEST(Compare, DifferentThingsAreNotCompared) {
  const Profile memory = Sampled(1);
  Profile cpu = Sampled(1);
  cpu.sample_types = {{"a", "count"}, {"b", "count"}, {"c", "count"}, {"cpu", "nanoseconds"}};
  const auto made = Compare({&memory, &cpu}, {});
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("nanoseconds"), std::string::npos);
}

}  // namespace
}  // namespace heapgauge
