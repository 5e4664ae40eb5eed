#include "core/report/views/memory.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace heapgauge {
namespace {

constexpr uint64_t kMb = 1 << 20;

MemorySurvey Example() {
  MemorySurvey s;
  s.recording.program = "/bin/server";
  s.recording.pid = 42;
  s.recording.state = RecordingState::kLive;
  s.recording.allocator = "glibc";
  s.live = true;
  s.allocator = wire::Allocator::kGlibc;
  s.time_ns = 60'000'000'000;
  s.status.peak_resident = 900 * kMb;
  s.status.threads = 3;
  s.stacks = 3;
  s.clean_file = 30 * kMb;
  Accounting& a = s.accounting;
  a.resident = 800 * kMb;
  a.parts[static_cast<size_t>(Part::kLive)] = 500 * kMb;
  a.parts[static_cast<size_t>(Part::kRounding)] = 30 * kMb;
  a.parts[static_cast<size_t>(Part::kFree)] = 140 * kMb;
  a.parts[static_cast<size_t>(Part::kStacks)] = 8 * kMb;
  a.parts[static_cast<size_t>(Part::kMapped)] = 60 * kMb;
  a.parts[static_cast<size_t>(Part::kProgram)] = 40 * kMb;
  a.parts[static_cast<size_t>(Part::kFiles)] = 5 * kMb;
  a.parts[static_cast<size_t>(Part::kRest)] = 17 * kMb;
  a.live.bytes.value = a.live.resident = 500.0 * kMb;
  a.live.interval = 512 << 10;
  a.live_range = {480.0 * kMb, 520.0 * kMb};
  a.heap_resident = 670 * kMb;
  return s;
}

bool Shows(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(MemoryReport, OneLineDoesNotCallFreeWhatCameBeforeAReset) {
  MemorySurvey s = Example();
  EXPECT_TRUE(Shows(MemoryLine(s), " + free in glibc 140 ")) << MemoryLine(s);
  s.recording.reset_ns = 1'000'000'000;
  EXPECT_TRUE(Shows(MemoryLine(s), " + free or from before the reset 140 ")) << MemoryLine(s);
}

TEST(MemoryReport, WhatCameBeforeAResetIsOnlyToldFromFreeMemoryByTheAllocator) {
  MemorySurvey s = Example();
  s.recording.reset_ns = 1'000'000'000;
  const std::string unclear = MemoryText(s, {});
  EXPECT_TRUE(Shows(unclear, "free in glibc             or in use since before the reset"))
      << unclear;
  EXPECT_FALSE(Shows(unclear, "malloc_trim"));
  s.statistics.emplace();
  s.statistics->mask = kHasInUse;
  s.statistics_are_fresh = true;
  const std::string told = MemoryText(s, {});
  EXPECT_TRUE(Shows(told, "free in glibc             kept for later allocations")) << told;
  EXPECT_TRUE(Shows(told, "malloc_trim"));
}

TEST(MemoryReport, TextNamesEveryPartAndTheWhole) {
  MemorySurvey s = Example();
  CgroupMemory cgroup;
  cgroup.usage = 900 * kMb;
  cgroup.limit = 1000 * kMb;
  cgroup.limited_path = "/x.service";
  s.cgroup = cgroup;
  s.growth = {static_cast<double>(kMb), 120, true};
  MemoryOptions options;
  options.mapped = {{"Pool::Grow (pool.cc:7)", 60 * kMb, 64 * kMb, 2}};
  const std::string text = MemoryText(s, options);
  for (const char* part :
       {"800 MB, 900 MB at its highest", "500 MB   62.5%  live heap", "95 %: 480-520 MB",
        "140 MB   17.5%  free in glibc", "3 stacks, 3 threads", "64.0 MB in 2 mappings: Pool::Grow",
        "17.0 MB    2.1%  the rest", "800 MB    100%  RSS",
        "900 MB of 1000 MB (90.0%); 100 MB to go", "limit of /x.service",
        "RSS +1.0 MB/s over the last 2m00s: at this rate 1m40s",
        "first 30.0 MB of clean file pages", "since there is no swap, the OOM killer",
        "malloc_trim(0)"}) {
    EXPECT_TRUE(Shows(text, part)) << part << " in\n" << text;
  }
  EXPECT_FALSE(Shows(text, "shared memory"));  // there is none
}

TEST(MemoryReport, WhereEveryBlockIsKnownNothingIsEstimated) {
  MemorySurvey s = Example();
  s.accounting.live.interval = 1;
  s.accounting.live.objects = 1200;
  const std::string text = MemoryText(s, {});
  EXPECT_TRUE(Shows(text, "500 MB in 1,200 blocks")) << text;
  EXPECT_FALSE(Shows(text, "95 %")) << text;
}

TEST(MemoryReport, SaysWhatIsNotResidentAndAsOfWhen) {
  MemorySurvey s = Example();
  s.accounting.live.bytes.value = 900.0 * kMb;
  EXPECT_TRUE(Shows(MemoryText(s, {}), "400 MB of it not resident"));
  s.accounting.live_is_capped = true;
  EXPECT_TRUE(Shows(MemoryText(s, {}), "resident at most 500 MB"));
  s.live = false;
  s.time_note = "the last that was noted";
  EXPECT_TRUE(Shows(MemoryText(s, {}), "as of 1m00s, the last that was noted"));
  s.statistics.emplace();
  s.statistics->mask = kHasFree;
  s.statistics->free_bytes = 5 * kMb;
  s.statistics->time_ns = 50'000'000'000;
  EXPECT_TRUE(Shows(MemoryText(s, {}), "free 5.0 MB (its own count 10s before; not used above)"));
}

TEST(MemoryReport, OneLineAddsUpByEye) {
  EXPECT_EQ(MemoryLine(Example()),
            "800 MB = live 500 + rounding 30 + free in glibc 140 + stacks 8 + mmap 60 + files 45 + "
            "other 17");
}

TEST(MemoryReport, JsonHasAllParts) {
  MemorySurvey s = Example();
  s.notes = {"a note with \xff"};
  const auto json = nlohmann::json::parse(MemoryJson(s, {}));
  EXPECT_EQ(json["resident_bytes"], 800 * kMb);
  EXPECT_EQ(json["parts"].size(), kParts);
  uint64_t sum = 0;
  for (const auto& part : json["parts"]) sum += part.get<uint64_t>();
  EXPECT_EQ(sum, 800 * kMb);
  EXPECT_EQ(json["heap"]["live_estimate"]["low"], 480.0 * kMb);
  EXPECT_FALSE(json.contains("cgroup"));
  EXPECT_EQ(json["notes"].size(), 1u);
}

}  // namespace
}  // namespace heapgauge
