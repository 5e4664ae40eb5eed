#include "core/gauge/gauge_facts.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <fstream>

#include "core/base/file.h"
#include "core/gauge/gauge_control.h"
#include "core/gauge/gauge_reader.h"
#include "core/gauge/testing/gauge_builder.h"
#include "core/memory/survey.h"
#include "core/os/process.h"

namespace heapgauge {
namespace {

using testing::GaugeBuilder;

class GaugeMemoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "heapgauge-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    directory_ = name;
    path_ = directory_ + "/x.1.hg";
    builder_.AddModule("/bin/server", 0x1000, 0x9000, 0x1000);
    stack_ = builder_.AddStack({0x1234, 0x2000});
    map_stack_ = builder_.AddStack({0x1300, 0x2000});
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  Result<GaugeMemory> Read() {
    builder_.WriteTo(path_);
    return ReadGaugeMemory(path_);
  }

  std::string directory_;
  std::string path_;
  GaugeBuilder builder_;
  uint32_t stack_ = 0;
  uint32_t map_stack_ = 0;
};

TEST_F(GaugeMemoryTest, ReadsAllThatIsKnown) {
  builder_.AddLive(stack_, 1000).usable = 1024;
  builder_.AddMapping(map_stack_, 0x700000, 0x4000);
  wire::Header& h = builder_.header();
  h.statistics.state = 4;
  h.statistics.in_use_bytes = 77;
  h.statistics.mask = kHasInUse;
  h.memory.state = 2;
  h.memory.resident_bytes = 1 << 20;
  h.agent_range_count = 2;
  h.agent_ranges[0] = {0x10000, 0x20000};
  h.agent_ranges[1] = {0x20000, 0x30000};
  const auto memory = Read();
  ASSERT_TRUE(memory) << memory.error().message;
  ASSERT_EQ(memory->live.size(), 1u);
  EXPECT_EQ(memory->live[0].usable, 1024u);
  EXPECT_TRUE(memory->records_mappings);
  ASSERT_EQ(memory->mappings.size(), 1u);
  EXPECT_EQ(memory->mappings[0].length, 0x4000u);
  ASSERT_TRUE(memory->statistics.has_value());
  EXPECT_EQ(memory->statistics->in_use_bytes, 77u);
  ASSERT_TRUE(memory->memory.has_value());
  EXPECT_TRUE(memory->agent_ranges_known);
  EXPECT_EQ(memory->agent_ranges, (std::vector<AddressRange>{{0x10000, 0x30000}}));
}

TEST_F(GaugeMemoryTest, BelievesNothingThatMakesNoSense) {
  wire::LiveRecord& live = builder_.AddLive(stack_, 1000);
  live.usable = ~uint64_t{0};
  builder_.AddLive(stack_, 1000).address = ~uint64_t{0};
  builder_.AddMapping(map_stack_, ~uint64_t{0xfff}, 0x4000);
  builder_.AddMapping(map_stack_, 0x1000, 0);
  wire::Header& h = builder_.header();
  h.statistics.state = 3;  // being written, for ever
  h.memory.state = 2;
  h.memory.resident_bytes = ~uint64_t{0};
  h.agent_range_count = 0xffffffff;
  h.agent_ranges[0] = {0x20000, 0x10000};
  h.agent_ranges_lost = 1;
  const auto memory = Read();
  ASSERT_TRUE(memory) << memory.error().message;
  ASSERT_EQ(memory->live.size(), 1u);
  EXPECT_LE(memory->live[0].usable, uint64_t{2} << 30);
  EXPECT_TRUE(memory->mappings.empty());
  EXPECT_FALSE(memory->statistics.has_value());
  EXPECT_FALSE(memory->memory.has_value());
  EXPECT_FALSE(memory->agent_ranges_known);
  EXPECT_TRUE(memory->agent_ranges.empty());
  EXPECT_EQ(memory->recording.unreadable_records, 3u);
}

TEST_F(GaugeMemoryTest, AProcessThatIsGoneIsRememberedByWhatWasNoted) {
  builder_.AddLive(stack_, 1 << 20);
  builder_.header().process_start_ticks = 1;  // another process has our number now
  builder_.header().allocator = static_cast<uint32_t>(wire::Allocator::kGlibc);
  auto memory = Read();
  ASSERT_TRUE(memory);
  const auto unknown = SurveyMemory(*memory);
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("is gone"), std::string::npos);

  auto ticker = GaugeTicker::Open(path_);
  ASSERT_TRUE(ticker);
  wire::ProcessMemory noted{};
  noted.resident_bytes = 10 << 20;
  noted.anonymous_bytes = 8 << 20;
  noted.file_bytes = 2 << 20;
  const uint64_t start = builder_.header().start_monotonic_ns;
  ASSERT_TRUE(ticker->WriteMemory(noted, start + 5'000'000'000));
  noted.resident_bytes = 11 << 20;
  ASSERT_TRUE(ticker->WriteMemory(noted, start + 6'000'000'000));
  memory = ReadGaugeMemory(path_);
  ASSERT_TRUE(memory);
  const auto survey = SurveyMemory(*memory);
  ASSERT_TRUE(survey) << survey.error().message;
  EXPECT_FALSE(survey->live);
  EXPECT_EQ(survey->time_ns, 6'000'000'000u);
  EXPECT_EQ(survey->accounting.resident, 11u << 20);
  EXPECT_TRUE(survey->accounting.coarse);
  EXPECT_GE(survey->accounting.part(Part::kLive), 1u << 20);
}

TEST_F(GaugeMemoryTest, TheTickerAddsResidentMemoryToTheAgentsOwnTicks) {
  builder_.AddTick(1'000'000'000, 5);
  builder_.header().last_tick_ns = 1'000'000'000;
  builder_.header().timeline_ticks = 1;
  builder_.WriteTo(path_);
  auto ticker = GaugeTicker::Open(path_);
  ASSERT_TRUE(ticker);
  const auto ticked = ticker->Tick(4096, builder_.header().start_monotonic_ns + 1'100'000'000);
  ASSERT_TRUE(ticked);
  EXPECT_FALSE(*ticked);
  const auto memory = ReadGaugeMemory(path_);
  ASSERT_TRUE(memory);
  ASSERT_EQ(memory->timeline.size(), 1u);
  EXPECT_EQ(memory->timeline[0].resident_bytes, 4096u);
}

TEST_F(GaugeMemoryTest, MappingsAreAProfileOfTheirOwn) {
  builder_.AddLive(stack_, 1 << 20);
  builder_.AddMapping(map_stack_, 0x700000, 0x4000);
  builder_.AddMapping(map_stack_, 0x800000, 0x1000).flags = wire::kMappingInherited;
  const std::string bytes = builder_.Build();
  const auto heap = ReadGauge(MemorySource(bytes), "x");
  ASSERT_TRUE(heap) << heap.error().message;
  EXPECT_EQ(heap->rows.size(), 1u);
  EXPECT_EQ(heap->sample_types[kInuseSpace].name, "inuse_space");
  GaugeReadOptions options;
  options.kind = ProfileKind::kMmap;
  const auto mapped = ReadGauge(MemorySource(bytes), "x", options);
  ASSERT_TRUE(mapped) << mapped.error().message;
  ASSERT_TRUE(mapped->Check());
  ASSERT_EQ(mapped->rows.size(), 1u);
  EXPECT_EQ(mapped->sample_types[kInuseSpace].name, "mmap_space");
  EXPECT_EQ(mapped->estimate(0, kInuseSpace).value, 0x5000);
  EXPECT_EQ(mapped->estimate(0, kInuseSpace).variance, 0);
  EXPECT_EQ(mapped->estimate(0, kInuseObjects).value, 2);
  options.inherited = Inherited::kExclude;
  EXPECT_EQ(ReadGauge(MemorySource(bytes), "x", options)->estimate(0, kInuseSpace).value, 0x4000);
  options.peak = true;
  EXPECT_FALSE(ReadGauge(MemorySource(bytes), "x", options));
  options.peak = false;
  builder_.header().hooks_mappings = 0;
  const auto none = ReadGauge(MemorySource(builder_.Build()), "x", options);
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("--mmap"), std::string::npos);
}

TEST_F(GaugeMemoryTest, StatisticsAreAskedForByNumber) {
  builder_.header().control.statistics_requests = 6;
  builder_.WriteTo(path_);
  auto control = GaugeControl::Open(path_);
  ASSERT_TRUE(control);
  ASSERT_TRUE(control->RequestStatistics());
  EXPECT_FALSE(control->WaitForStatistics(0));
  const auto file = File::OpenForUpdate(path_);
  ASSERT_TRUE(file);
  uint32_t asked = 0;
  file->ReadAt(offsetof(wire::Header, control) + offsetof(wire::Control, statistics_requests),
               &asked, sizeof asked);
  EXPECT_EQ(asked, 7u);
  wire::AllocatorStatistics answer{};
  answer.state = 2;
  answer.requests = 6;  // to an older question
  ASSERT_TRUE(file->WriteAt(offsetof(wire::Header, statistics), &answer, sizeof answer));
  EXPECT_FALSE(control->WaitForStatistics(0));
  answer.requests = 7;
  ASSERT_TRUE(file->WriteAt(offsetof(wire::Header, statistics), &answer, sizeof answer));
  EXPECT_TRUE(control->WaitForStatistics(0));
}

}  // namespace
}  // namespace heapgauge
