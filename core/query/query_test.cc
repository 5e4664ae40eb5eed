// The tables over traces and profiles, and the functions.

#include "core/query/query.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <new>
#include <stdexcept>

#include "core/query/schema.h"
#include "core/query/testing/ask.h"
#include "core/query/testing/example_trace.h"
#include "core/query/testing/sampled_profile.h"
#include "core/trace/testing/make_trace.h"

namespace heapgauge::query {
namespace {

using testing::Asker;
using testing::SampledProfile;
using trace::testing::AddRandomEvents;
using trace::testing::FakeFrame;
using trace::testing::MakeTrace;
using trace::testing::RandomTrace;
using Lines = std::vector<std::string>;

constexpr uint64_t kMs = 1'000'000;

// Three functions: one keeps a block, one frees at once, one grows a block by realloc; and another
// thread that frees what is not its own.
MakeTrace SmallTrace() {
  MakeTrace made;
  const uint32_t keep = made.Stack({{"operator new(unsigned long)", "new.cc"},
                                    {"shop::Cache::Keep(int)", "cache.cc", 12},
                                    {"main", "main.cc", 3}});
  const uint32_t churn = made.Stack({{"malloc", "", 0, "/lib/libc.so.6"},
                                     {"shop::Churn()", "churn.cc", 7},
                                     {"main", "main.cc", 4}});
  const uint32_t grow = made.Stack({{"shop::Grow()", "grow.cc", 9}, {"main", "main.cc", 5}},
                                   made.LabelSet("request", "search"));
  const uint32_t map = made.Stack({"mmap", "shop::Map()", {"main", "main.cc", 6}}, 0, true);
  made.NameThread(0, "main", 100);
  made.NameThread(1, "worker", 101);
  const uint64_t kept = made.Allocate(1 * kMs, 0, 1000, keep);
  const uint64_t passed_on = made.Allocate(2 * kMs, 0, 500, keep);
  made.Free(4 * kMs, made.Allocate(3 * kMs, 0, 64, churn));
  uint64_t block = made.Allocate(5 * kMs, 0, 10, grow);
  for (uint64_t i = 1; i <= 3; ++i) block = made.Reallocate((5 + i) * kMs, block, 10 << i, grow);
  made.Allocate(9 * kMs, 1, 7, churn);
  made.Free(10 * kMs, passed_on, 1);
  made.Map(11 * kMs, 0, 8192, map);
  made.Memory(6 * kMs, 123456);
  made.Mark(7 * kMs, "deployed");
  made.facts.recording.duration_ns = 20 * kMs;
  static_cast<void>(kept);
  return made;
}

class Small : public ::testing::Test {
 protected:
  Lines Ask(const std::string& sql) { return asker_.Ask(sql); }
  std::string One(const std::string& sql) { return asker_.One(sql); }

  MakeTrace made_ = SmallTrace();
  Asker asker_{QuerySource::OfTrace(made_.Open(), {})};
};

TEST_F(Small, StacksHaveNamesAndFigures) {
  EXPECT_EQ(
      Ask("SELECT function, module, depth, live_bytes, live_blocks, allocated_bytes, "
          "allocated_blocks, freed_blocks, temporary_blocks FROM stacks ORDER BY stack"),
      (Lines{"shop::Cache::Keep,/made/program,3,1000,1,1500,2,1,0",
             "shop::Churn,/made/program,3,7,1,71,2,1,1",
             "shop::Grow,/made/program,2,80,1,150,4,3,3", "mmap,/made/program,3,0,0,0,0,0,0"}));
  EXPECT_EQ(One("SELECT mapped_bytes FROM stacks WHERE stack_contains('shop::Map')"), "8192");
  EXPECT_EQ(One("SELECT text FROM stacks WHERE function = 'shop::Grow'"), "main;shop::Grow");
  EXPECT_EQ(One("SELECT mean_lifetime_ns FROM stacks WHERE function = 'shop::Churn'"), "1000000");
  EXPECT_EQ(Ask("SELECT stack FROM stacks WHERE stack = 99"), Lines{});
}

TEST_F(Small, StacksGoOnWhenNamesComeLater) {
  EXPECT_EQ(Ask("SELECT function_of(stack), live_bytes, truncated FROM stacks"),
            (Lines{"shop::Cache::Keep,1000,0", "shop::Churn,7,0", "shop::Grow,80,0", "mmap,0,0"}));
}

TEST_F(Small, StacksGoOnWhenFramesComeLater) {
  EXPECT_EQ(Ask("SELECT s.stack, s.live_bytes, f.line FROM stacks s CROSS JOIN frames f "
                "ON f.stack = s.stack WHERE f.function = 'main'"),
            (Lines{"1,1000,3", "2,7,4", "3,80,5", "4,0,6"}));
}

TEST_F(Small, FramesAreJoinedByStack) {
  EXPECT_EQ(
      Ask("SELECT f.depth, f.function, f.name, f.file, f.line FROM stacks s "
          "JOIN frames f USING (stack) WHERE s.function LIKE '%Keep' ORDER BY f.depth"),
      (Lines{"0,operator new,operator new(unsigned long),new.cc,1",
             "1,shop::Cache::Keep,shop::Cache::Keep(int),cache.cc,12", "2,main,main,main.cc,3"}));
  EXPECT_EQ(One("SELECT count(*) FROM frames"), "11");
  EXPECT_EQ(One("SELECT path FROM frames JOIN modules ON modules.module = module_key "
                "WHERE frames.function = 'malloc'"),
            "/lib/libc.so.6");
}

TEST_F(Small, FunctionsOfARow) {
  EXPECT_EQ(Ask("SELECT number FROM allocations WHERE live_at(3500000) ORDER BY number"),
            (Lines{"0", "1", "2"}));
  EXPECT_EQ(Ask("SELECT a.number FROM allocations a WHERE a.live_at('3.5ms') ORDER BY 1"),
            (Lines{"0", "1", "2"}));
  EXPECT_EQ(One("SELECT sum(size) FILTER (WHERE live_at('2ms')), "
                "sum(size) FILTER (WHERE live_at('end')) FROM allocations WHERE NOT is_mapping"),
            "1500,1087");
  EXPECT_EQ(One("SELECT count(*) FROM allocations WHERE stack_contains('Cache::')"), "2");
  EXPECT_EQ(One("SELECT count(*) FROM allocations WHERE stack_contains('libc')"), "2");
  EXPECT_EQ(One("SELECT count(*) FROM allocations WHERE NOT stack_contains('grow\\.cc')"), "5");
  EXPECT_EQ(One("SELECT count(*) FROM allocations a JOIN stacks s USING (stack) "
                "WHERE s.stack_contains('Grow') AND a.live_at(moment('end'))"),
            "1");
  EXPECT_EQ(One("SELECT stack_contains(NULL, 'x'), stack_contains(12345, 'x')"), "NULL,0");
}

TEST_F(Small, FunctionsOfValues) {
  EXPECT_EQ(One("SELECT human(1536), human(-10), human(NULL), human_time(1500), human_time(2), "
                "human_time(3400000), human_time(1500000000)"),
            "1.5 kB,-10 B,NULL,1.5us,2ns,3.4ms,1.5s");
  EXPECT_EQ(One("SELECT seconds('1.5s'), seconds(2), seconds('250ms'), seconds('3us'), "
                "seconds('7')"),
            "1500000000,2000000000,250000000,3000,7000000000");
  EXPECT_EQ(One("SELECT moment('start'), moment('peak') = " + std::to_string(made_.Peak().second) +
                ", moment('end'), moment('50%'), moment(7), moment('0:01')"),
            "0,1,20000000,10000000,7,1000000000");
  EXPECT_EQ(One("SELECT 'abc' REGEXP '^a.c$', 'abc' REGEXP 'x', NULL REGEXP 'x'"), "1,0,NULL");
  EXPECT_EQ(One("SELECT power_of_two(0), power_of_two(1), power_of_two(1023), power_of_two(1024)"),
            "0,1,512,1024");
  EXPECT_EQ(One("SELECT function_of(stack), collapsed(stack), module_of(stack) FROM allocations "
                "WHERE number = 0"),
            "shop::Cache::Keep,main;shop::Cache::Keep;operator new,/made/program");
  EXPECT_EQ(One("SELECT function_of(NULL), function_of(77), collapsed(-1)"), "NULL,NULL,NULL");
}

TEST(Functions, ThatThrowAreErrors) {
  for (const char* call : {"function_of(stack)", "module_of(stack)", "collapsed(stack)",
                           "stack_contains(stack, 'main')"}) {
    const std::string sql = std::string("SELECT ") + call + " FROM allocations";
    Asker no_memory(
        QuerySource::OfTrace(SmallTrace().Open(), [](Profile*) { throw std::bad_alloc(); }));
    EXPECT_NE(no_memory.One(sql).find("of memory"), std::string::npos) << call;
    EXPECT_EQ(no_memory.One("SELECT 1"), "1");
    Asker broken(QuerySource::OfTrace(
        SmallTrace().Open(), [](Profile*) { throw std::runtime_error("no names today"); }));
    EXPECT_EQ(broken.One(sql), "error: no names today") << call;
  }
}

TEST_F(Small, SnapshotsAreOfAMoment) {
  EXPECT_EQ(Ask("SELECT function_of(stack), live_bytes, live_blocks, allocated_blocks "
                "FROM snapshots('3ms') ORDER BY stack"),
            (Lines{"shop::Cache::Keep,1500,2,2", "shop::Churn,64,1,1"}));
  EXPECT_EQ(Ask("SELECT function_of(stack), live_bytes FROM snapshots WHERE at = 10000000 "
                "ORDER BY stack"),
            (Lines{"shop::Cache::Keep,1000", "shop::Churn,7", "shop::Grow,80"}));
  EXPECT_EQ(One("SELECT sum(live_bytes), sum(mapped_bytes) FROM snapshots"), "1087,8192");
  EXPECT_EQ(One("SELECT count(*) FROM snapshots(-5)"), "0");
  // What grew between two moments.
  EXPECT_EQ(Ask("SELECT function_of(stack), b.live_bytes - coalesce(a.live_bytes, 0) AS grown "
                "FROM snapshots('end') b LEFT JOIN snapshots('3ms') a USING (stack) "
                "ORDER BY grown DESC LIMIT 2"),
            (Lines{"shop::Grow,80", "mmap,0"}));
}

// The peak among events of its nanosecond, with segments that end within it.
TEST(Peak, IsAfterOneCertainEvent) {
  for (const uint32_t segment_events : {1, 2, 3, 64}) {
    MakeTrace made;
    made.options.segment_events = segment_events;
    const uint32_t f = made.Stack({"f", "main"});
    const uint32_t g = made.Stack({"g", "main"});
    const uint64_t old = made.Allocate(5, 0, 1000, f);
    const uint64_t small = made.Allocate(10, 0, 10, f);
    made.Free(10, made.Allocate(10, 0, 1, g));
    made.Free(10, small);
    const uint64_t large = made.Allocate(10, 0, 5000, g);  // the peak
    made.Free(10, old);
    made.Free(10, made.Allocate(10, 0, 7, g));
    made.Free(20, large);
    ASSERT_EQ(made.Peak(), std::pair(uint64_t{6000}, uint64_t{10}));
    Asker asker(QuerySource::OfTrace(made.Open(), {}));
    EXPECT_EQ(asker.Ask("SELECT function_of(stack), time_ns, live_bytes, live_blocks, "
                        "allocated_blocks, freed_blocks FROM snapshots('peak')"),
              (Lines{"f,10,1000,1,2,1", "g,10,5000,1,2,1"}))
        << segment_events;
    EXPECT_EQ(asker.Ask("SELECT size FROM allocations WHERE live_at('peak') ORDER BY number"),
              (Lines{"1000", "5000"}))
        << segment_events;
    EXPECT_EQ(asker.One("SELECT sum(size) FILTER (WHERE live_at('peak')) FROM allocations"), "6000")
        << segment_events;
    EXPECT_EQ(asker.One("SELECT sum(size) FROM allocations "
                        "WHERE live_at('peak') AND live_at('10ns')"),
              "5000");
    // Its nanosecond is another moment: after all that happened then.
    EXPECT_EQ(asker.One("SELECT sum(live_bytes) FROM snapshots(moment('peak'))"), "5000");
    for (const char* late : {"SELECT count(*) FROM snapshots('2h')",
                             "SELECT count(*) FROM allocations WHERE live_at('2h')"}) {
      EXPECT_NE(asker.One(late).find("2h is behind the end"), std::string::npos) << late;
    }
    EXPECT_EQ(asker.One("SELECT sum(size) FROM allocations WHERE live_at(moment('peak'))"), "5000");
    EXPECT_EQ(asker.One("SELECT count(*) FROM snapshots('peak') a JOIN snapshots(10) b USING "
                        "(stack) WHERE a.live_bytes = b.live_bytes"),
              "1");
  }
}

TEST(Peak, IsThatOfTheTrace) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    MakeTrace made;
    made.write_survivors = seed % 2 == 0;
    RandomTrace how;
    how.seed = seed;
    how.events = 2000;
    how.greatest_pause_ns = seed % 3 == 0 ? 0 : 1;
    AddRandomEvents(how, &made);
    Asker asker(QuerySource::OfTrace(made.Open(), {}));
    const std::string peak = std::to_string(made.Peak().first);
    EXPECT_EQ(asker.One("SELECT sum(live_bytes) FROM snapshots('peak')"), peak) << seed;
    EXPECT_EQ(asker.One("SELECT sum(size) FROM allocations WHERE live_at('peak') "
                        "AND NOT is_mapping"),
              peak)
        << seed;
    EXPECT_EQ(asker.One("SELECT sum(size) FROM allocations WHERE +live_at(lifespan, 'peak') "
                        "AND NOT is_mapping"),
              peak)
        << seed;
  }
}

TEST_F(Small, TheOtherTables) {
  EXPECT_EQ(Ask("SELECT thread, id, name, first_ns FROM threads"),
            (Lines{"0,100,main,1000000", "1,101,worker,9000000"}));
  EXPECT_EQ(
      Ask("SELECT t.name, count(*) FROM allocations a JOIN threads t ON t.thread = a.freed_by "
          "WHERE a.freed_by <> a.thread GROUP BY 1"),
      (Lines{"worker,1"}));
  EXPECT_EQ(Ask("SELECT time_ns, resident_bytes, proportional_bytes FROM memory"),
            (Lines{"6000000,123456,NULL"}));
  EXPECT_EQ(Ask("SELECT * FROM markers"), (Lines{"7000000,deployed"}));
  EXPECT_EQ(Ask("SELECT function_of(stack), key, value FROM labels"),
            (Lines{"shop::Grow,request,search"}));
  EXPECT_EQ(One("SELECT value FROM facts WHERE name = 'allocations'"), "9");
  EXPECT_EQ(One("SELECT value FROM facts WHERE name = 'pid'"), "4242");
  EXPECT_EQ(One("SELECT path FROM modules WHERE module = 0"), "/made/program");
  EXPECT_NE(One("SELECT * FROM blocks").find("error: there is no table blocks here"),
            std::string::npos);
  EXPECT_NE(One("SELECT * FROM samples").find("a trace has allocations"), std::string::npos);
}

TEST_F(Small, ReallocChains) {
  EXPECT_EQ(One("WITH RECURSIVE made AS MATERIALIZED (SELECT number, previous FROM allocations "
                "WHERE previous IS NOT NULL), chain(number, length) AS (SELECT number, 1 FROM made "
                "WHERE previous NOT IN (SELECT number FROM made) UNION ALL "
                "SELECT made.number, length + 1 FROM chain JOIN made ON made.previous = "
                "chain.number) SELECT max(length) FROM chain"),
            "3");
}

TEST(Timeline, IsWhatHappened) {
  MakeTrace made;
  RandomTrace how;
  how.events = 3000;
  AddRandomEvents(how, &made);
  made.Memory(made.end_ns() / 2, 777);
  Asker asker(QuerySource::OfTrace(made.Open(), {}));
  const uint64_t end = made.end_ns();
  for (const char* range : {"", " WHERE time_ns > 2000000 AND time_ns <= 4000000",
                            " WHERE time_ns >= 3000000 ORDER BY time_ns DESC"}) {
    const Lines lines =
        asker.Ask(std::string("SELECT time_ns, live_bytes, live_blocks, peak_bytes, "
                              "allocated_bytes, freed_blocks, resident_bytes "
                              "FROM timeline(123456)") +
                  range);
    ASSERT_GT(lines.size(), 5u) << range;
    for (const std::string& line : lines) {
      const uint64_t t = std::stoull(line);
      const uint64_t from =
          t % 123456 == 0 ? t - std::min<uint64_t>(t, 123456) : t / 123456 * 123456;
      uint64_t live = 0;
      uint64_t live_bytes = 0;
      uint64_t peak = made.LiveBytesAt(from);
      if (t == 0) peak = 0;
      uint64_t live_blocks = 0;
      uint64_t allocated = 0;
      uint64_t freed = 0;
      for (const trace::Block& b : made.blocks()) {
        if (b.is_mapping) continue;
        if (b.birth_ns <= t) allocated += b.size;
        if (b.death_ns <= t) ++freed;
        live_blocks += made.IsLiveAt(b, t) ? 1 : 0;
        live_bytes += made.IsLiveAt(b, t) ? b.size : 0;
      }
      for (const auto& event : made.events()) {
        const auto size = [&](uint64_t n) {
          return n == trace::kNoBlock || made.blocks()[n].is_mapping ? 0 : made.blocks()[n].size;
        };
        live = live - size(event.died) + size(event.born);
        if (event.time_ns <= t && (event.time_ns > from || t == 0)) peak = std::max(peak, live);
      }
      EXPECT_EQ(line, fmt::format("{},{},{},{},{},{},{}", t, live_bytes, live_blocks, peak,
                                  allocated, freed, t < end / 2 ? "NULL" : "777"))
          << range;
    }
    if (*range == 0) {
      EXPECT_EQ(std::stoull(lines.back()), end);
    }
  }
  EXPECT_NE(asker.One("SELECT count(*) FROM timeline").find("10"), std::string::npos);
  EXPECT_NE(asker.One("SELECT count(*) FROM timeline(1)").find("larger step"), std::string::npos);
  EXPECT_NE(asker.One("SELECT count(*) FROM timeline(0)").find("error"), std::string::npos);
}

TEST(Timeline, TheLastStepIsTheSameUnderAnyCondition) {
  MakeTrace made;
  const uint32_t stack = made.Stack({"f", "main"});
  made.Allocate(10, 0, 100, stack);
  made.Free(16, made.Allocate(15, 0, 1000, stack));
  made.Allocate(25, 0, 1, stack);
  Asker asker(QuerySource::OfTrace(made.Open(), {}));
  for (const char* range : {"time_ns > 10", "time_ns > 20", "time_ns = 25"}) {
    const Lines lines =
        asker.Ask(std::string("SELECT time_ns, peak_bytes FROM timeline(10) WHERE ") + range);
    ASSERT_FALSE(lines.empty()) << range;
    EXPECT_EQ(lines.back(), "25,101") << range;
  }
}

TEST(ProfileTables, KnowWhatTheProfileKnows) {
  Asker asker(QuerySource::OfProfile(SampledProfile()));
  EXPECT_EQ(asker.Ask("SELECT stack, function, live_bytes, allocated_bytes, freed_bytes, "
                      "temporary_bytes, text FROM stacks"),
            (Lines{"1,f,4000,9000,5000,NULL,main;f;malloc", "2,g,100,100,0,NULL,main;g"}));
  EXPECT_EQ(asker.Ask("SELECT stack FROM stacks WHERE stack_contains('^f$') "
                      "OR stack_contains('f\\(int\\)')"),
            (Lines{"1"}));
  EXPECT_EQ(asker.Ask("SELECT stack, thread, size, age_ns, inherited FROM blocks"),
            (Lines{"1,0,2000,600,0", "2,1,100,100,1"}));
  EXPECT_EQ(asker.Ask("SELECT stack, id, freed_ns, lifetime_ns FROM allocations "
                      "JOIN threads USING (thread) WHERE live_at(500)"),
            (Lines{"1,17,NULL,600"}));
  EXPECT_EQ(asker.Ask("SELECT type, sum(value) FROM figures GROUP BY type ORDER BY 1"),
            (Lines{"alloc_objects,0", "alloc_space,9100", "inuse_objects,0", "inuse_space,4100"}));
  EXPECT_EQ(asker.Ask("SELECT time_ns, live_bytes, resident_bytes, peak_bytes, at, unit "
                      "FROM timeline"),
            (Lines{"500,3000,9999,NULL,500,time"}));
  EXPECT_EQ(asker.Ask("SELECT time_ns, stack, live_bytes FROM snapshots('end')"),
            (Lines{"1000,1,4000", "1000,2,100"}));
  EXPECT_EQ(asker.Ask("SELECT stack, key, value FROM labels"), (Lines{"2,thread,io"}));
  EXPECT_EQ(asker.One("SELECT resident_bytes FROM memory"), "9999");
  EXPECT_NE(asker.One("SELECT * FROM snapshots(3)").find("one moment"), std::string::npos);
}

// Massif counts bytes or instructions unless it is told to count milliseconds.
TEST(ProfileTables, TellNoTimesThatTheProfileDoesNotKnow) {
  Profile profile = SampledProfile();
  profile.recording.duration_ns = 0;
  profile.timeline_axis = TimeAxis::kInstructions;
  profile.timeline_live_only = true;
  profile.timeline[0].time_ns = 0;
  profile.timeline[0].at = 7000;
  Asker asker(QuerySource::OfProfile(std::move(profile)));
  EXPECT_EQ(asker.Ask("SELECT at, unit, time_ns, human_time(time_ns), live_bytes, live_blocks, "
                      "allocated_bytes, allocated_blocks, freed_bytes, freed_blocks FROM timeline"),
            (Lines{"7000,instructions,NULL,NULL,3000,NULL,NULL,NULL,NULL,NULL"}));
  EXPECT_EQ(asker.Ask("SELECT name, value FROM facts WHERE name = 'duration_ns'"),
            (Lines{"duration_ns,NULL"}));
}

// SQLite scans a table once for each side of an OR, and leaves out rows that it has met.
TEST(TraceTables, AnOrHasTheRowsOfBothSides) {
  Asker asker(QuerySource::OfTrace(testing::ExampleTrace().Open(), {}));
  const std::pair<const char*, std::vector<const char*>> cases[] = {
      {"frames", {"stack = 1", "(stack = 2 AND depth < 100)"}},
      {"stacks", {"stack = 1", "stack = 2"}},
      {"timeline", {"time_ns < 3000000000", "time_ns > 6000000000"}},
      {"allocations", {"born_ns < 3000000000", "number > 5"}},
  };
  for (const auto& [table, sides] : cases) {
    const std::string count = std::string("SELECT count(*) FROM ") + table + " WHERE ";
    EXPECT_EQ(asker.One(count + sides[0] + " OR " + sides[1]),
              asker.One(count + "+(" + sides[0] + " OR " + sides[1] + ")"))
        << table;
    EXPECT_NE(asker.One(count + sides[0]), "0") << table;
    EXPECT_NE(asker.One(count + sides[1]), "0") << table;
  }
  const auto sum = [&](const std::string& condition) {
    return std::stoll(asker.One("SELECT count(*) FROM snapshots WHERE " + condition));
  };
  EXPECT_EQ(sum("(at = 'peak' AND live_bytes > 0) OR (at = 'end' AND allocated_bytes > 0)"),
            sum("at = 'peak' AND live_bytes > 0") + sum("at = 'end' AND allocated_bytes > 0"));
  const auto steps = [&](const std::string& condition) {
    return std::stoll(asker.One("SELECT count(*) FROM timeline WHERE " + condition));
  };
  EXPECT_EQ(steps("step_ns = seconds('1s') OR step_ns = seconds('2s')"),
            steps("step_ns = seconds('1s')") + steps("step_ns = seconds('2s')"));
}

TEST(ProfileTables, WhatFailsAtOnceHasNoResult) {
  struct Heard final : ResultSink {
    Status Begin(const std::vector<std::string>&) override {
      ++begun;
      return {};
    }
    Result<bool> Row(const std::vector<Value>&) override { return true; }
    Status End() override { return {}; }
    int begun = 0;
  } heard;
  Asker asker(QuerySource::OfProfile(SampledProfile()));
  EXPECT_FALSE(asker.query().Run("SELECT * FROM snapshots(3)", &heard));
  EXPECT_EQ(heard.begun, 0);
  EXPECT_TRUE(asker.query().Run("SELECT * FROM stacks WHERE live_bytes < 0", &heard));
  EXPECT_EQ(heard.begun, 1);
}

TEST(ProfileTables, TheEndIsNotThePeak) {
  Profile profile = SampledProfile();
  profile.recording.has_peak = true;
  profile.recording.peak_ns = 1000;  // its end, or a clock that nobody knows
  Asker end(QuerySource::OfProfile(profile));
  EXPECT_NE(end.One("SELECT * FROM snapshots('peak')").find("one moment"), std::string::npos);
  profile.recording.is_peak = true;
  profile.recording.peak_ns = 400;
  Asker peak(QuerySource::OfProfile(profile));
  EXPECT_EQ(peak.One("SELECT sum(live_bytes) FROM snapshots('peak')"), "4100");
}

TEST(ProfileTables, SayWhatTheyCannotKnow) {
  Profile profile = SampledProfile();
  profile.blocks.clear();
  profile.recording.interval = 0;
  Asker asker(QuerySource::OfProfile(std::move(profile)));
  EXPECT_NE(asker.One("SELECT * FROM allocations").find("no single blocks"), std::string::npos);
  EXPECT_EQ(asker.One("SELECT count(*) FROM stacks"), "2");
  Asker empty(QuerySource::OfProfile({}));
  EXPECT_EQ(empty.One("SELECT count(*) FROM stacks"), "0");
  EXPECT_EQ(empty.One("SELECT count(*) FROM frames"), "0");
  EXPECT_EQ(empty.One("SELECT count(*) FROM figures"), "0");
}

TEST(Statements, RunOneAfterTheOther) {
  Asker asker(QuerySource::OfProfile(SampledProfile()));
  testing::KeptRows kept;
  ASSERT_TRUE(asker.query().Run("SELECT 1; SELECT 2;\n -- the end\n", &kept));
  EXPECT_EQ(kept.results, 2);
  EXPECT_EQ(kept.rows, (std::vector<std::vector<std::string>>{{"1"}, {"2"}}));
}

TEST(Schema, NamesAllTables) {
  const std::string text = SchemaText(nullptr);
  for (const char* part : {"allocations: ", "stacks: ", "frames: ", "snapshots: ", "timeline: ",
                           "threads: ", "modules: ", "memory: ", "blocks: ", "figures: ",
                           "labels: ", "markers: ", "facts: ", "live_at(T)", "freed_ns"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part;
  }
  Profile sums = SampledProfile();
  sums.blocks.clear();
  sums.recording.interval = 0;
  const auto source = QuerySource::OfProfile(std::move(sums));
  EXPECT_NE(SchemaText(source.get()).find("no single blocks"), std::string::npos);
  const auto trace = QuerySource::OfTrace(SmallTrace().Open(), {});
  const std::string of_trace = SchemaText(trace.get());
  for (const char* part : {"there is no table blocks here", "there is no table figures here"}) {
    EXPECT_NE(of_trace.find(part), std::string::npos) << part;
  }
  const std::string tables = PartsOfSchema(trace.get()).tables.Text();
  EXPECT_NE(tables.find("\"allocations\""), std::string::npos);
  EXPECT_EQ(tables.find("\"blocks\""), std::string::npos) << tables;
  EXPECT_EQ(tables.find("\"figures\""), std::string::npos) << tables;
}

}  // namespace
}  // namespace heapgauge::query
