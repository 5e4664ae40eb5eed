// allocations against the blocks that a trace was made of: random traces, random conditions, and
// how much of the file was read for them.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

#include "core/query/testing/ask.h"
#include "core/trace/testing/make_trace.h"

namespace heapgauge::query {
namespace {

using testing::Asker;
using trace::Block;
using trace::testing::AddRandomEvents;
using trace::testing::MakeTrace;
using trace::testing::RandomTrace;

std::string Text(const Block& b, uint64_t end_ns) {
  const auto null_if = [](bool null, uint64_t value) {
    return null ? std::string("NULL") : std::to_string(value);
  };
  constexpr const char* kCalls[] = {"malloc", "calloc", "realloc", "aligned", "new", "new[]"};
  return fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}", b.number, b.birth_ns,
                     null_if(b.is_live(), b.death_ns), b.lifetime_ns(end_ns), b.address, b.size,
                     b.slack, null_if(b.alignment_log2 == 0, uint64_t{1} << b.alignment_log2),
                     b.is_mapping ? "mmap" : kCalls[b.function], b.stack, b.thread,
                     null_if(b.is_live(), b.death_thread),
                     null_if(b.distance == trace::kForeign, b.distance), b.distance == 0 ? 1 : 0,
                     null_if(b.previous == trace::kNoBlock, b.previous), b.is_mapping ? 1 : 0,
                     b.resized_away ? 1 : 0);
}

struct Condition {
  std::string sql;
  std::function<bool(const Block&)> holds;
};

// One condition on a block, at random.
Condition MakeCondition(std::mt19937_64* random, const MakeTrace& made) {
  const auto below = [&](uint64_t limit) { return (*random)() % std::max<uint64_t>(limit, 1); };
  const uint64_t t = below(made.end_ns() + 100);
  const uint64_t n = below(made.blocks().size() + 2);
  const uint64_t s = uint64_t{1} << below(17);
  const auto stack = static_cast<uint32_t>(below(made.stack_count() + 1));
  const auto thread = static_cast<uint32_t>(below(4));
  using B = const Block&;
  switch (below(24)) {
    case 0:
      return {fmt::format("born_ns >= {}", t), [=](B b) { return b.birth_ns >= t; }};
    case 1:
      return {fmt::format("born_ns < {}", t), [=](B b) { return b.birth_ns < t; }};
    case 2:
      return {fmt::format("born_ns BETWEEN {} AND {}", t, t + 20000),
              [=](B b) { return b.birth_ns >= t && b.birth_ns <= t + 20000; }};
    case 3:
      return {fmt::format("freed_ns > {}", t), [=](B b) { return !b.is_live() && b.death_ns > t; }};
    case 4:
      return {fmt::format("freed_ns <= {}.5", t),
              [=](B b) { return !b.is_live() && b.death_ns <= t; }};
    case 5:
      return {"freed_ns IS NULL", [](B b) { return b.is_live(); }};
    case 6:
      return {"freed_ns IS NOT NULL", [](B b) { return !b.is_live(); }};
    case 7:
    case 8:
      return {fmt::format("live_at({})", t),
              [=](B b) { return b.birth_ns <= t && b.death_ns > t; }};
    case 9:
      return {fmt::format("NOT live_at({})", t),
              [=](B b) { return !(b.birth_ns <= t && b.death_ns > t); }};
    case 10:
      return {fmt::format("number = {}", n), [=](B b) { return b.number == n; }};
    case 11:
      return {fmt::format("number > {}", n), [=](B b) { return b.number > n; }};
    case 12:
      return {fmt::format("number BETWEEN {} AND {}", n, n + 100),
              [=](B b) { return b.number >= n && b.number <= n + 100; }};
    case 13:
      return {fmt::format("size >= {}", s), [=](B b) { return b.size >= s; }};
    case 14:
      return {fmt::format("size = {}", s), [=](B b) { return b.size == s; }};
    case 15:
      return {fmt::format("stack = {}", stack), [=](B b) { return b.stack == stack; }};
    case 16:
      return {fmt::format("stack IN ({}, {}, NULL)", stack, stack + 1),
              [=](B b) { return b.stack == stack || b.stack == stack + 1; }};
    case 17:
      return {fmt::format("thread = {}", thread), [=](B b) { return b.thread == thread; }};
    case 18:
      return {"is_mapping", [](B b) { return b.is_mapping; }};
    case 19:
      return {"is_mapping = 0", [](B b) { return !b.is_mapping; }};
    case 20:
      return {fmt::format("(live_at({}) OR thread = {})", t, thread),
              [=](B b) { return (b.birth_ns <= t && b.death_ns > t) || b.thread == thread; }};
    case 21:
      return {"temporary", [](B b) { return b.distance == 0; }};
    case 22:
      return {"previous IS NOT NULL", [](B b) { return b.previous != trace::kNoBlock; }};
    default:
      return {fmt::format("lifetime_ns > {}", t),
              [=, &made](B b) { return b.lifetime_ns(made.end_ns()) > t; }};
  }
}

TEST(Allocations, AreThoseThatHappenedUnderAnyCondition) {
  std::mt19937_64 random(7);
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    MakeTrace made;
    RandomTrace how;
    how.seed = seed;
    how.events = 3000;
    how.live = seed % 2 == 0 ? 300 : 20;
    how.mappings = 0.1;
    how.cuts = 0.5;
    made.options.segment_events = seed < 4 ? 64 : 500;
    made.write_survivors = seed % 3 != 0;
    made.finish = seed % 3 != 1;
    AddRandomEvents(how, &made);
    Asker asker(QuerySource::OfTrace(made.Open(), {}));
    const uint64_t end = made.end_ns();
    for (int round = 0; round < 60; ++round) {
      std::vector<Condition> conditions;
      std::string where;
      for (uint64_t i = random() % 4; i-- > 0;) {
        conditions.push_back(MakeCondition(&random, made));
        where += (where.empty() ? " WHERE " : " AND ") + conditions.back().sql;
      }
      std::vector<std::string> expected;
      std::vector<std::string> expected_births;
      uint64_t bytes = 0;
      for (const Block& block : made.blocks()) {
        if (!std::all_of(conditions.begin(), conditions.end(),
                         [&](const Condition& c) { return c.holds(block); })) {
          continue;
        }
        expected.push_back(Text(block, end));
        expected_births.push_back(fmt::format("{},{}", block.number, block.address));
        bytes += block.size;
      }
      EXPECT_EQ(asker.Ask("SELECT * FROM allocations" + where + " ORDER BY number"), expected)
          << where << " seed " << seed;
      EXPECT_EQ(asker.Ask("SELECT number, address FROM allocations" + where + " ORDER BY 1"),
                expected_births)
          << where << " seed " << seed;
      EXPECT_EQ(asker.One("SELECT count(*), total(size) = " + std::to_string(bytes) +
                          " FROM allocations" + where),
                fmt::format("{},1", expected.size()))
          << where;
    }
  }
}

TEST(Allocations, OfAnotherToolHaveNothingForWhatItDidNotTell) {
  MakeTrace made;
  RandomTrace how;
  how.events = 500;
  made.facts.only_blocks = true;
  AddRandomEvents(how, &made);
  Asker asker(QuerySource::OfTrace(made.Open(), {}));
  EXPECT_EQ(asker.One("SELECT count(slack) + count(alignment) + count(call) + count(thread) + "
                      "count(freed_by) + count(previous) + count(resized) FROM allocations"),
            "0");
  EXPECT_EQ(asker.One("SELECT count(size) + count(stack) + count(born_ns) FROM allocations"),
            std::to_string(3 * made.blocks().size()));
  EXPECT_EQ(asker.Ask("SELECT thread, sum(slack) FROM allocations GROUP BY thread"),
            std::vector<std::string>{"NULL,NULL"});
}

TEST(Allocations, AreGroupedByAnyColumn) {
  MakeTrace made;
  RandomTrace how;
  how.events = 4000;
  AddRandomEvents(how, &made);
  Asker asker(QuerySource::OfTrace(made.Open(), {}));
  for (const char* key : {"stack", "thread", "call", "size", "freed_by", "alignment", "temporary",
                          "is_mapping", "previous", "stack, thread", "thread, call, is_mapping"}) {
    const std::string grouped = fmt::format(
        "SELECT {0}, count(*), sum(size), max(lifetime_ns) FROM allocations GROUP BY {0}", key);
    // A sum that SQLite has to sort for: + hides the column from the table.
    std::string hidden = key;
    for (size_t at = 0; (at = hidden.find(", ", at)) != std::string::npos; at += 3) {
      hidden.replace(at, 2, ", +");
    }
    const std::string sorted = fmt::format(
        "SELECT {}, count(*), sum(size), max(lifetime_ns) FROM allocations GROUP BY +{}", key,
        hidden);
    const auto plan = asker.Ask("EXPLAIN QUERY PLAN " + grouped);
    EXPECT_EQ(plan.size(), 1u) << key << ": without a sort of SQLite's own";
    // The same groups in the same order: ORDER BY what GROUP BY says is not looked at again.
    EXPECT_GT(asker.Ask(sorted).size(), 1u) << key;
    EXPECT_EQ(asker.Ask(grouped), asker.Ask(sorted)) << key;
    for (const char* direction : {"", " DESC"}) {
      const std::string by = fmt::format(" ORDER BY {}{}", key, direction);
      const std::string by_hidden = fmt::format(" ORDER BY +{}{}", hidden, direction);
      EXPECT_EQ(asker.Ask(grouped + by), asker.Ask(sorted + by_hidden)) << by;
    }
  }
  EXPECT_EQ(asker.One("SELECT count(*) FROM (SELECT DISTINCT stack FROM allocations)"),
            asker.One("SELECT count(DISTINCT stack) FROM allocations"));
}

// A long trace of which one second is asked for.
class OneSecond : public ::testing::Test {
 protected:
  static constexpr uint64_t kSecond = 1'000'000'000;

  // 100 seconds with a segment each: 64 blocks that live 10 ms, but one of each second that is
  // freed two seconds later, and one of every tenth second that never is.
  OneSecond() {
    const uint32_t stack = made_.Stack({"f", "main"});
    std::vector<std::pair<uint64_t, uint64_t>> later;  // when, block
    for (uint64_t s = 0; s < 100; ++s) {
      uint64_t events = 0;
      for (uint64_t i = 0; events + 2 <= 64; ++i) {
        const uint64_t now = s * kSecond + i * 20'000'000;
        if (!later.empty() && later.front().first <= now) {
          made_.Free(now, later.front().second);
          later.erase(later.begin());
          ++events;
          continue;
        }
        const uint64_t block = made_.Allocate(now, 0, 100 + i, stack);
        ++events;
        if (i == 5) {
          if (s % 10 != 0) later.emplace_back((s + 2) * kSecond, block);
        } else {
          made_.Free(now + 10'000'000, block);
          ++events;
        }
      }
    }
    asker_ = std::make_unique<Asker>(QuerySource::OfTrace(made_.Open(), {}));
  }

  // Segments that were read for it, beside the answer.
  uint64_t ReadsFor(const std::string& sql, const std::string& answer) {
    Asker fresh(QuerySource::OfTrace(made_.Open(), {}));
    EXPECT_EQ(fresh.One(sql), answer) << sql;
    parts_ = fresh.source().segments()->parts_read();
    return fresh.source().segments()->reads();
  }

  std::string Count(const std::function<bool(const Block&)>& holds) const {
    return std::to_string(std::count_if(made_.blocks().begin(), made_.blocks().end(), holds));
  }

  MakeTrace made_;
  std::unique_ptr<Asker> asker_;
  uint64_t parts_ = 0;
};

TEST_F(OneSecond, IsReadAloneWhereEndsDoNotMatter) {
  ASSERT_GT(asker_->source().trace()->segments().size(), 90u);
  const auto born = [](const Block& b) {
    return b.birth_ns >= 50 * kSecond && b.birth_ns < 51 * kSecond;
  };
  EXPECT_LE(ReadsFor("SELECT count(*) FROM allocations "
                     "WHERE born_ns >= seconds(50) AND born_ns < seconds(51)",
                     Count(born)),
            3u);
  EXPECT_EQ(parts_, uint64_t{trace::kNewBlocks}) << "neither addresses nor details";
  EXPECT_LE(ReadsFor("SELECT count(DISTINCT address) > 0 FROM allocations "
                     "WHERE born_ns >= seconds(50) AND born_ns < seconds(51)",
                     "1"),
            3u);
  EXPECT_EQ(parts_, uint64_t{trace::kNewBlocks | trace::kAddresses});
  EXPECT_LE(ReadsFor("SELECT sum(slack) > 0 FROM allocations WHERE number = 1000", "1"), 1u);
  EXPECT_EQ(parts_, uint64_t{trace::kNewBlocks | trace::kDetails});
}

TEST_F(OneSecond, AndWhatItsBlocksCameTo) {
  const auto still_live = [](const Block& b) {
    return b.birth_ns >= 50 * kSecond && b.birth_ns < 51 * kSecond && b.is_live();
  };
  // Later segments have deaths of blocks that are at most two seconds old.
  EXPECT_LE(ReadsFor("SELECT count(*) FROM allocations "
                     "WHERE born_ns >= seconds(50) AND born_ns < seconds(51) AND freed_ns IS NULL",
                     Count(still_live)),
            8u);
  EXPECT_LE(ReadsFor("SELECT max(lifetime_ns) > seconds(1) FROM allocations "
                     "WHERE born_ns >= seconds(53) AND born_ns < seconds(54)",
                     "1"),
            8u);
}

TEST_F(OneSecond, OfDeathsIsReadAlone) {
  const auto freed = [](const Block& b) {
    return b.death_ns >= 50 * kSecond && b.death_ns < 51 * kSecond;
  };
  EXPECT_LE(ReadsFor("SELECT count(*) FROM allocations "
                     "WHERE freed_ns >= seconds(50) AND freed_ns < seconds(51)",
                     Count(freed)),
            3u);
}

TEST_F(OneSecond, SurvivorsAreListed) {
  const auto live = [](const Block& b) { return b.is_live(); };
  EXPECT_EQ(ReadsFor("SELECT count(*) FROM allocations WHERE freed_ns IS NULL", Count(live)), 0u);
}

TEST_F(OneSecond, WhatIsLiveAtAMomentIsFoundBehindIt) {
  const auto live = [](const Block& b) {
    return b.birth_ns <= 90 * kSecond && b.death_ns > 90 * kSecond;
  };
  EXPECT_LE(ReadsFor("SELECT count(*) FROM allocations WHERE live_at('90s')", Count(live)), 12u);
}

TEST_F(OneSecond, IsEmptyBehindTheEnd) {
  EXPECT_EQ(ReadsFor("SELECT count(*) FROM allocations WHERE born_ns > seconds(1000)", "0"), 0u);
  EXPECT_EQ(ReadsFor("SELECT count(*) FROM allocations WHERE born_ns < 0", "0"), 0u);
  EXPECT_EQ(ReadsFor("SELECT count(*) FROM allocations WHERE size > 5 AND size < 3", "0"), 0u);
  EXPECT_EQ(ReadsFor("SELECT count(*) FROM allocations WHERE live_at(NULL)", "0"), 0u);
  EXPECT_EQ(ReadsFor("SELECT count(*) FROM allocations WHERE live_at(-1)", "0"), 0u);
}

TEST_F(OneSecond, NothingIsReadForAComparisonWithNull) {
  for (const char* condition :
       {"number = NULL", "number > NULL", "born_ns <= NULL", "born_ns BETWEEN NULL AND 5",
        "size < NULL", "size >= NULL", "freed_ns = NULL", "is_mapping = NULL", "stack = NULL"}) {
    EXPECT_EQ(ReadsFor(fmt::format("SELECT count(*) FROM allocations WHERE {}", condition), "0"),
              0u)
        << condition;
  }
  EXPECT_EQ(ReadsFor("SELECT count(*) FROM timeline WHERE time_ns > NULL", "0"), 0u);
  // No block here is made of another: segments are read for `a`, and none for `b`.
  EXPECT_LE(ReadsFor("SELECT count(*) FROM allocations a JOIN allocations b "
                     "ON a.previous = b.number WHERE a.number < 50",
                     "0"),
            4u);
}

TEST_F(OneSecond, TimelineOfARangeReadsNoMore) {
  EXPECT_LE(ReadsFor("SELECT count(*) > 5 FROM timeline(seconds('100ms')) "
                     "WHERE time_ns BETWEEN seconds(50) AND seconds(51)",
                     "1"),
            4u);
}

TEST_F(OneSecond, ASnapshotReadsOneSegment) {
  EXPECT_LE(ReadsFor("SELECT sum(live_bytes) FROM snapshots(seconds('50.5s'))",
                     std::to_string(made_.LiveBytesAt(50 * kSecond + kSecond / 2))),
            1u);
}

}  // namespace
}  // namespace heapgauge::query
