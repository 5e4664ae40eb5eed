#include "core/leaks/verdict/suspects.h"

#include <gtest/gtest.h>

#include "core/leaks/testing/made_up_past.h"
#include "core/leaks/testing/make_check.h"
#include "core/leaks/verdict/stack_frames.h"

namespace heapgauge::leaks {
namespace {

using testing::MadeUpPast;

std::vector<std::string> Names(const std::vector<Suspect>& suspects) {
  std::vector<std::string> names;
  for (const Suspect& s : suspects) names.push_back(s.function);
  return names;
}

TEST(Suspects, LostAndGrowingComeBeforeGrowingAloneAndBoundedIsNone) {
  MadeUpPast past(7);
  const uint32_t leak = past.Live({.samples = 60}, "drop_request(int)");
  past.Live({.samples = 60}, "cache_insert(Key const&)");
  past.Live({.samples = 600, .lifetime = MadeUpPast::Always(0.1)}, "lru_insert()");
  past.Live({.samples = 60, .birth = [&] { return past.Even() * 0.01; }}, "main");
  past.Live({.samples = 5}, "seldom");
  past.Sentence(leak, Kind::kDefinite);
  const Suspects found = FindSuspects(past.check());
  EXPECT_EQ(Names(found.suspects), (std::vector<std::string>{"drop_request", "cache_insert"}));
  const Suspect& lost = found.suspects[0];
  EXPECT_TRUE(lost.lost);
  EXPECT_TRUE(lost.grows);
  EXPECT_EQ(lost.lost_blocks, lost.live_blocks);
  EXPECT_EQ(lost.lost_share.high, 1);
  EXPECT_GT(lost.lost_share.low, 0.9);
  EXPECT_NE(lost.sentence.find("lost "), std::string::npos) << lost.sentence;
  EXPECT_NE(lost.sentence.find("sampled blocks, oldest 9m"), std::string::npos) << lost.sentence;
  EXPECT_NE(lost.sentence.find("(p < 0.001)"), std::string::npos) << lost.sentence;
  const Suspect& cache = found.suspects[1];
  EXPECT_FALSE(cache.lost);
  EXPECT_NE(cache.sentence.find("nothing of it was freed; still reachable"), std::string::npos)
      << cache.sentence;
  EXPECT_NE(cache.sentence.find(" MB/min"), std::string::npos) << cache.sentence;
  std::vector<std::string> others = Names(found.others);
  std::sort(others.begin(), others.end());
  EXPECT_EQ(others, (std::vector<std::string>{"lru_insert", "main", "seldom"}));
  for (const Suspect& s : found.others) {
    if (s.function == "seldom") {
      EXPECT_NE(s.sentence.find("too few samples"), std::string::npos);
    }
    if (s.function == "lru_insert") {
      EXPECT_NE(s.sentence.find("bounded"), std::string::npos);
    }
    if (s.function == "main") {
      EXPECT_NE(s.sentence.find("stopped growing"), std::string::npos);
    }
  }
}

TEST(Suspects, StacksOfOneFunctionAreJudgedTogether) {
  MadeUpPast past(3);
  for (int i = 0; i < 30; ++i) past.Live({.samples = 2.5}, "cache_insert(int)");
  const Suspects found = FindSuspects(past.check());
  ASSERT_EQ(found.suspects.size(), 1u);
  EXPECT_GT(found.suspects[0].stacks.size(), 20u);
  EXPECT_TRUE(found.others.empty());
}

TEST(Suspects, StacksOfOneFunctionThatDifferAreToldApart) {
  MadeUpPast past(4);
  const uint32_t grows = past.Live({.samples = 60}, "make_buffer");
  past.Live({.samples = 900, .lifetime = MadeUpPast::Always(0.1)}, "make_buffer");
  const Suspects found = FindSuspects(past.check());
  ASSERT_EQ(found.suspects.size(), 1u);
  EXPECT_EQ(found.suspects[0].stacks, std::vector<uint32_t>{grows});
  EXPECT_EQ(found.others.size(), 1u);
}

TEST(Suspects, ASampleOrTwoOfAnotherStackGoWithTheRest) {
  MadeUpPast past(4);
  past.Live({.samples = 60}, "remember");
  past.Live({.samples = 4}, "remember");
  const Suspects found = FindSuspects(past.check());
  ASSERT_EQ(found.suspects.size(), 1u);
  EXPECT_EQ(found.suspects[0].stacks.size(), 2u);
  EXPECT_EQ(found.suspects[0].live_blocks, past.raw().known.blocks.size());
  EXPECT_TRUE(found.others.empty());
}

TEST(Suspects, ManyWithoutATrendGiveHardlyAnyByChance) {
  int accused = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    MadeUpPast past(seed);
    for (int i = 0; i < 100; ++i) {
      past.Live({.samples = 100, .lifetime = past.Exponential(0.3)}, "cache_" + std::to_string(i));
    }
    accused += FindSuspects(past.check()).suspects.empty() ? 0 : 1;
  }
  EXPECT_LE(accused, 3);
}

TEST(Suspects, WithoutALookAtMemoryNobodyIsSaidToBeReachable) {
  MadeUpPast past(5);
  past.Live({.samples = 60}, "cache_insert");
  const Suspects found = FindSuspects(past.check());
  ASSERT_EQ(found.suspects.size(), 1u);
  EXPECT_EQ(found.suspects[0].sentence.find("reach"), std::string::npos);
  EXPECT_EQ(found.suspects[0].lost_share.high, 0);
}

TEST(Suspects, AtItsEndAProgramDoesNotGrow) {
  MadeUpPast past(5);
  past.Live({.samples = 60}, "table");
  past.raw().at_exit = true;
  const Suspects found = FindSuspects(past.check());
  EXPECT_TRUE(found.suspects.empty());
}

TEST(Suspects, BlocksThatOthersPointToAreSaidToBe) {
  MadeUpPast past(6);
  const uint32_t cache = past.Live({.samples = 60}, "cache_insert");
  past.Sentence(cache, Kind::kPossible);
  const Suspects found = FindSuspects(past.check());
  ASSERT_EQ(found.suspects.size(), 1u);
  EXPECT_NE(found.suspects[0].sentence.find("still pointed to, all of it by blocks"),
            std::string::npos)
      << found.suspects[0].sentence;
}

TEST(Suspects, WhatMayBeLostIsToldBesideWhatIs) {
  MadeUpPast past(6);
  const uint32_t leak = past.Live({.samples = 60}, "drop_request");
  past.Sentence(leak, Kind::kDefinite);
  for (size_t i = 0; i < 5; ++i) past.raw().verdicts[i].kind = Kind::kPossible;
  const Suspects found = FindSuspects(past.check());
  ASSERT_EQ(found.suspects.size(), 1u);
  EXPECT_NE(found.suspects[0].sentence.find("and to 5 more only from memory that nobody knows"),
            std::string::npos)
      << found.suspects[0].sentence;
  EXPECT_EQ(found.suspects[0].lost_blocks + 5, found.suspects[0].live_blocks);
}

TEST(Suspects, NothingKnownIsNobody) {
  Check check;
  const Suspects found = FindSuspects(check);
  EXPECT_TRUE(found.suspects.empty());
  EXPECT_TRUE(found.others.empty());
  EXPECT_EQ(found.whole_sentence, "");
}

TEST(SiteNames, AreThoseOfTheProgram) {
  EXPECT_TRUE(IsLibraryFunction("std::vector<int>::push_back(int&&)"));
  EXPECT_TRUE(IsLibraryFunction("void std::vector<int>::_M_realloc_insert<int>(int&&)"));
  EXPECT_TRUE(IsLibraryFunction("<alloc::vec::Vec<u8> as core::clone::Clone>::clone"));
  EXPECT_FALSE(IsLibraryFunction("cache_insert(std::string const&)"));
  EXPECT_FALSE(IsLibraryFunction("Cache<std::string>::Insert()"));
  EXPECT_FALSE(IsLibraryFunction("std::string Cache::Name()"));
  EXPECT_FALSE(IsLibraryFunction(""));
}

TEST(SiteNames, AreThoseOfWhoCallsAWrapperOfMalloc) {
  testing::CheckMaker maker;
  const std::vector<uint32_t> stacks = {
      maker.Stack({"malloc", "app_alloc(unsigned long)", "session_leak()", "main"}),
      maker.Stack({"malloc", "app_alloc(unsigned long)", "cache_grow()", "main"}),
      // One caller alone tells no more than the function itself.
      maker.Stack({"malloc", "Pool<Allocator>::AllocatePage(int)", "serve()", "main"}),
      maker.Stack({"malloc", "Pool<Allocator>::Fill(int)", "serve()", "main"}),
      maker.Stack({"malloc", "Pool<Allocator>::Fill(int)", "main"})};
  const Check& check = maker.check();
  SiteNames names(check.known.profile);
  std::vector<NodeId> leaves;
  for (const uint32_t stack : stacks) leaves.push_back(check.known.stacks[stack].leaf);
  EXPECT_EQ(names.Of(leaves[0]), "app_alloc");
  names.PassOverWrappers(leaves);
  EXPECT_EQ(names.Of(leaves[0]), "session_leak");
  EXPECT_EQ(names.Of(leaves[1]), "cache_grow");
  EXPECT_EQ(names.Of(leaves[2]), "Pool<Allocator>::AllocatePage");
  EXPECT_EQ(names.Of(leaves[3]), "Pool<Allocator>::Fill");
}

TEST(Suspects, BehindAWrapperOfMallocAreToldApart) {
  testing::CheckMaker maker;
  for (const char* const culprit : {"session_leak()", "cache_leak()"}) {
    const uint32_t stack = maker.Stack({"malloc", "app_alloc(unsigned long)", culprit, "main"});
    for (int i = 0; i < 3; ++i) maker.Block(stack, 1000, Kind::kDefinite);
  }
  std::vector<std::string> names = Names(FindSuspects(maker.check()).suspects);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"cache_leak", "session_leak"}));
}

TEST(SuspectSentence, RatesHaveAUnitThatSaysSomething) {
  EXPECT_EQ(FormatRate(0), "0 B/d");
  EXPECT_EQ(FormatRate(2 << 20).substr(FormatRate(2 << 20).size() - 2), "/s");
  EXPECT_EQ(FormatRate(500'000).substr(FormatRate(500'000).size() - 4), "/min");
  EXPECT_EQ(FormatRate(1'000).substr(FormatRate(1'000).size() - 2), "/h");
}

}  // namespace
}  // namespace heapgauge::leaks
