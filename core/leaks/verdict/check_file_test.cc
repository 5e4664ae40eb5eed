#include "core/leaks/verdict/check_file.h"

#include <gtest/gtest.h>

#include <deque>
#include <filesystem>
#include <fstream>

#include "core/gauge/testing/gauge_builder.h"
#include "core/leaks/verdict/suspects.h"
#include "core/trace/testing/make_trace.h"

namespace heapgauge::leaks {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;

class CheckFileTest : public ::testing::Test {
 protected:
  CheckFileTest() {
    path_ = ::testing::TempDir() + "check_file." + std::to_string(::getpid()) + ".tmp";
  }
  ~CheckFileTest() override { std::filesystem::remove(path_); }
  std::string path_;
};

TEST_F(CheckFileTest, AGaugeFileTellsAgesAndNoVerdicts) {
  heapgauge::testing::GaugeBuilder builder;
  builder.AddModule("/bin/server", 0x1000, 0x9000);
  const uint32_t stack = builder.AddStack({0x1234, 0x2345});
  for (uint64_t i = 0; i < 60; ++i) {
    builder.AddLive(stack, 4096, wire::kDefaultIntervalBytes, (i * 10 + 5) * kSecond);
  }
  builder.AddFreed(stack, 4096);
  builder.header().ended_ns = 600 * kSecond;
  builder.header().start_realtime_ns = 1000 * kSecond;
  builder.WriteTo(path_);
  const auto check = CheckFile(path_);
  ASSERT_TRUE(check) << check.error().message;
  EXPECT_EQ(check->look, Look::kNone);
  EXPECT_TRUE(check->verdicts.empty());
  EXPECT_EQ(check->known.blocks.size(), 60u);
  EXPECT_EQ(check->unix_ns, 1600 * kSecond);
  EXPECT_NEAR(static_cast<double>(check->allocations), 61 * 128.5, 10);
  EXPECT_NEAR(static_cast<double>(check->frees), 128.5, 2);
  const Suspects found = FindSuspects(*check);
  ASSERT_EQ(found.suspects.size(), 1u);
  EXPECT_NE(found.suspects[0].sentence.find(" and grows "), std::string::npos);
  EXPECT_EQ(found.suspects[0].function, "server+0x1233");
}

// A leak, a cache that grows, one that throws out the oldest, one that is cleared now and then, and
// what is made at the start.
void MakeServer(trace::testing::MakeTrace* trace) {
  const uint32_t leak = trace->Stack({"malloc", "forget", "main"});
  const uint32_t grows =
      trace->Stack({"operator new", "std::_Hashtable<int>::_M_insert", "remember", "main"});
  const uint32_t lru = trace->Stack({"malloc", "keep_some", "main"});
  const uint32_t swings = trace->Stack({"malloc", "collect", "main"});
  const uint32_t start = trace->Stack({"malloc", "load_tables", "main"});
  const uint32_t request = trace->Stack({"malloc", "serve", "main"});
  const uint32_t mapping = trace->Stack({"mmap", "main"}, 0, true);
  std::deque<uint64_t> kept;
  std::vector<uint64_t> collected;
  for (uint64_t i = 0; i < 50; ++i) trace->Allocate(i, 0, 5000, start);
  trace->Map(60, 0, 1 << 20, mapping);
  for (uint64_t tick = 0; tick < 6000; ++tick) {
    const uint64_t now = kSecond / 10 + tick * kSecond / 100;
    trace->Free(now + 10, trace->Allocate(now, 0, 300, request));
    if (tick % 20 == 0) trace->Allocate(now + 20, 0, 100, leak);
    if (tick % 10 == 0) trace->Allocate(now + 30, 0, 200, grows);
    kept.push_back(trace->Allocate(now + 40, 0, 400, lru));
    if (kept.size() > 500) {
      trace->Free(now + 50, kept.front());
      kept.pop_front();
    }
    collected.push_back(trace->Allocate(now + 60, 0, 250, swings));
    if (tick % 700 == 699) {
      for (const uint64_t block : collected) trace->Free(now + 70, block);
      collected.clear();
    }
  }
}

TEST_F(CheckFileTest, ATraceTellsWhatGrowsAndWhatComesBack) {
  trace::testing::MakeTrace trace;
  trace.options.segment_events = 512;
  MakeServer(&trace);
  ASSERT_TRUE(trace.Write(path_));
  const auto check = CheckFile(path_);
  ASSERT_TRUE(check) << check.error().message;
  EXPECT_TRUE(check->known.exact);
  uint64_t live = 0;
  uint64_t heap_blocks = 0;
  for (const trace::Block& block : trace.blocks()) {
    heap_blocks += block.is_mapping ? 0 : 1;
    live += !block.is_mapping && block.is_live() ? 1 : 0;
  }
  EXPECT_EQ(check->known.blocks.size(), live);
  EXPECT_EQ(check->allocations, heap_blocks);
  EXPECT_EQ(check->frees, heap_blocks - live);
  const Suspects found = FindSuspects(*check);
  ASSERT_EQ(found.suspects.size(), 2u);
  EXPECT_EQ(found.suspects[0].function, "remember");
  EXPECT_EQ(found.suspects[1].function, "forget");
  // 200 bytes ten times a second.
  EXPECT_NEAR(found.suspects[0].growth.bytes_per_second, 2000, 60);
  EXPECT_NEAR(found.suspects[1].growth.bytes_per_second, 500, 20);
  for (const Suspect& s : found.others) {
    const Trend expected = s.function == "load_tables" ? Trend::kStopped : Trend::kBounded;
    EXPECT_EQ(s.growth.trend, expected) << s.Text();
  }
}

TEST_F(CheckFileTest, OnlyAWholeTraceKnowsEveryBlock) {
  for (const bool loses : {false, true}) {
    trace::testing::MakeTrace trace;
    trace.facts.lost_events = loses ? 7 : 0;
    trace::testing::AddRandomEvents({.seed = 3, .events = 5000}, &trace);
    ASSERT_TRUE(trace.Write(path_));
    const auto check = CheckFile(path_);
    ASSERT_TRUE(check) << check.error().message;
    EXPECT_EQ(check->known.exact, !loses);
    EXPECT_EQ(check->known.gap, loses ? Gap::kEvents : Gap::kNone);
    EXPECT_FALSE(check->known.sampled());
  }
  trace::testing::MakeTrace trace;
  trace.options.segment_events = 512;
  trace::testing::AddRandomEvents({.seed = 3, .events = 5000}, &trace);
  ASSERT_TRUE(trace.Write(path_));
  std::filesystem::resize_file(path_, std::filesystem::file_size(path_) * 2 / 3);
  const auto check = CheckFile(path_);
  ASSERT_TRUE(check) << check.error().message;
  EXPECT_FALSE(check->known.exact);
  EXPECT_EQ(check->known.gap, Gap::kEnd);
  EXPECT_FALSE(check->known.blocks.empty());
}

TEST_F(CheckFileTest, AmountsOverTimeAreThoseOfTheTrace) {
  trace::testing::MakeTrace trace;
  trace.options.segment_events = 64;
  trace::testing::AddRandomEvents({.seed = 3, .events = 5000}, &trace);
  ASSERT_TRUE(trace.Write(path_));
  const auto check = CheckFile(path_);
  ASSERT_TRUE(check) << check.error().message;
  for (size_t i = 0; i < check->known.blocks.size(); i += 100) {  // a few will do
    const KnownBlock& block = check->known.blocks[i];
    const StackHistory& history = check->known.histories[block.stack];
    ASSERT_EQ(history.least_live.size(), 32u);
    // The looks are at multiples of 1/128 of the run.
    for (uint64_t part = 0; part < 32; ++part) {
      uint64_t least = UINT64_MAX;
      for (uint64_t look = part * 4 + 1; look <= part * 4 + 4; ++look) {
        const uint64_t end = check->known.now_ns;
        const uint64_t at = end / 128 * look + end % 128 * look / 128;
        uint64_t bytes = 0;
        for (const trace::Block& b : trace.blocks()) {
          if (b.stack == block.stack && trace.IsLiveAt(b, at)) bytes += b.size;
        }
        least = std::min(least, bytes);
      }
      ASSERT_EQ(history.least_live[part], least) << block.stack << " part " << part;
    }
  }
}

TEST_F(CheckFileTest, OtherFormatsAreRefusedInOneLine) {
  std::ofstream(path_) << "main;f 10\nmain;g 20\n";
  const auto check = CheckFile(path_);
  ASSERT_FALSE(check);
  EXPECT_NE(check.error().message.find("does not tell single blocks"), std::string::npos);
  EXPECT_EQ(check.error().message.find('\n'), std::string::npos);
  EXPECT_FALSE(CheckFile(path_ + ".missing"));
}

TEST_F(CheckFileTest, WhatIsNoProfileIsSaidToBeNone) {
  std::ofstream(path_).close();
  auto check = CheckFile(path_);
  ASSERT_FALSE(check);
  EXPECT_EQ(check.error().message, path_ + ": the file is empty");
  std::ofstream(path_) << "\x01\x02 not of any format\n";
  check = CheckFile(path_);
  ASSERT_FALSE(check);
  EXPECT_EQ(check.error().message,
            path_ + ": byte 0: this is no profile of a format that is known here");
}

TEST_F(CheckFileTest, DamageIsAnErrorOrLeftOut) {
  trace::testing::MakeTrace trace;
  trace::testing::AddRandomEvents({.seed = 9, .events = 2000}, &trace);
  ASSERT_TRUE(trace.Write(path_));
  std::string bytes;
  {
    std::ifstream in(path_, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), {});
  }
  for (size_t cut = 0; cut < bytes.size(); cut += bytes.size() / 50 + 1) {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes.substr(0, cut);
    const auto check = CheckFile(path_);
    if (check) FindSuspects(*check);
  }
}

}  // namespace
}  // namespace heapgauge::leaks
