#include "core/gauge/gauge_reader.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <thread>

#include "core/gauge/gauge_facts.h"
#include "core/gauge/gauge_layout.h"
#include "core/gauge/testing/gauge_builder.h"
#include "core/gauge/testing/own_gauge.h"

namespace heapgauge {
namespace {

using testing::GaugeBuilder;

Result<Profile> Read(GaugeBuilder* b, const GaugeReadOptions& options = {}) {
  const std::string bytes = b->Build();
  return ReadGauge(MemorySource(bytes), "test.hg", options);
}

TEST(GaugeReader, ReadsWhatWasWritten) {
  GaugeBuilder b;
  b.AddModule("/bin/server", 0x1000, 0x9000, 0x1000, "\x12\xab");
  b.AddModule("/lib/x.so", 0x20000, 0x30000, 0x20000);
  const uint32_t deep = b.AddStack({0x1234, 0x20500, 0x2000});
  const uint32_t shallow = b.AddStack({0x20500, 0x2000});
  b.AddLive(deep, 1 << 20, wire::kDefaultIntervalBytes, 5);
  b.AddLive(deep, 100, wire::kDefaultIntervalBytes, 7);
  b.AddFreed(shallow, 4096);
  b.AddTick(1'000'000'000, 77);
  b.header().totals.lost[1] = 3;
  const auto profile = Read(&b);
  ASSERT_TRUE(profile) << profile.error().message;
  ASSERT_TRUE(profile->Check()) << profile->Check().error().message;

  ASSERT_EQ(profile->rows.size(), 2u);
  EXPECT_EQ(profile->rows[0].samples, 2u);
  EXPECT_EQ(profile->rows[0].live_samples, 2u);
  const double expected = WeightOf(1 << 20, wire::kDefaultIntervalBytes).bytes +
                          WeightOf(100, wire::kDefaultIntervalBytes).bytes;
  EXPECT_NEAR(profile->estimate(0, kInuseSpace).value, expected, 1e-6);
  EXPECT_NEAR(profile->estimate(0, kAllocSpace).value, expected, 1e-6);
  EXPECT_EQ(profile->estimate(1, kInuseSpace).value, 0);
  EXPECT_GT(profile->estimate(1, kAllocSpace).value, 4096);

  std::vector<LocationId> stack;
  profile->StackOf(0, &stack);
  ASSERT_EQ(stack.size(), 3u);
  EXPECT_EQ(profile->locations[stack[0]].address, 0x1234u);
  EXPECT_EQ(profile->modules[profile->locations[stack[0]].module].path, "/bin/server");
  EXPECT_EQ(profile->modules[profile->locations[stack[0]].module].build_id, "12ab");
  EXPECT_EQ(profile->modules[profile->locations[stack[1]].module].path, "/lib/x.so");
  EXPECT_EQ(profile->locations.size(), 3u) << "locations are shared";
  EXPECT_EQ(profile->nodes.size(), 3u) << "the shorter stack is the outer part of the longer";

  const RecordingFacts& r = profile->recording;
  EXPECT_EQ(r.program, "/usr/bin/server");
  ASSERT_EQ(r.command_line.size(), 3u);
  EXPECT_EQ(r.command_line[2], "80");
  EXPECT_EQ(r.allocator, "glibc");
  EXPECT_EQ(r.samples, 3u);
  EXPECT_EQ(r.live_samples, 2u);
  ASSERT_EQ(r.lost.size(), 1u);
  EXPECT_EQ(r.lost[0].second, 3u);
  EXPECT_EQ(r.unreadable_records, 0u);
  ASSERT_EQ(profile->timeline.size(), 1u);
  EXPECT_EQ(profile->timeline[0].live_bytes, 77u);
}

TEST(GaugeReader, ManySegmentsOfEachKind) {
  GaugeBuilder b;
  b.AddModule("/bin/server", 0x1000, 0x10000000);
  for (uint32_t i = 0; i < 3000; ++i) {
    wire::StackRecord stack{};
    uint32_t parent = 0;
    for (uint32_t k = 0; k < 4; ++k) {
      b.nodes().push_back({wire::PackPc(0x1000 + i * 16 + k, 0), parent, 0});
      parent = static_cast<uint32_t>(b.nodes().size() - 1);
    }
    stack.node = parent;
    b.stacks().push_back(stack);
    b.AddLive(static_cast<uint32_t>(b.stacks().size() - 1), 1000 + i);
  }
  const auto profile = Read(&b);
  ASSERT_TRUE(profile) << profile.error().message;
  ASSERT_TRUE(profile->Check());
  EXPECT_EQ(profile->rows.size(), 3000u);
  EXPECT_EQ(profile->nodes.size(), 12000u);
  EXPECT_EQ(profile->recording.unreadable_records, 0u);
  for (RowId row = 0; row < 3000; ++row) {
    ASSERT_EQ(profile->blocks[row].size, 1000u + row);
    ASSERT_EQ(profile->blocks[row].row, row);
  }
}

TEST(GaugeReader, AnAddressBelongsToTheModuleItNames) {
  GaugeBuilder b;
  b.AddModule("/lib/old.so", 0x1000, 0x2000);
  b.AddLive(b.AddStack({0x1500}), 64);
  b.AddModule("/lib/new.so", 0x1000, 0x3000);  // in the place of the first
  b.AddLive(b.AddStack({0x1500}), 64);
  b.AddModule("/bin/main", 0x8000, 0x9000);
  b.AddLive(b.AddStack({0x8500}), 64);
  b.AddLive(b.AddStack({0x7000}), 64);
  // Names a module that does not hold it, and one that is not there.
  b.nodes().push_back({wire::PackPc(0x1500, 3), 0, 0});
  b.nodes().push_back({wire::PackPc(0x1500, 99), 0, 0});
  for (uint32_t i = 2; i > 0; --i) {
    wire::StackRecord stack{};
    stack.node = static_cast<uint32_t>(b.nodes().size() - i);
    b.stacks().push_back(stack);
    b.AddLive(static_cast<uint32_t>(b.stacks().size() - 1), 64);
  }
  const auto profile = Read(&b);
  ASSERT_TRUE(profile);
  const char* expected[] = {"/lib/old.so", "/lib/new.so", "/bin/main", "", "", ""};
  for (RowId row = 0; row < 6; ++row) {
    const Location& location = profile->locations[profile->nodes[profile->rows[row].leaf].location];
    EXPECT_EQ(location.module == kNone ? "" : profile->modules[location.module].path, expected[row])
        << row;
  }
}

TEST(GaugeReader, AReturnAddressAtTheEndOfAModuleBelongsToIt) {
  GaugeBuilder b;
  b.AddModule("/bin/a", 0x1000, 0x2000);
  b.AddModule("/bin/b", 0x2000, 0x3000);
  b.AddLive(b.AddStack({0x2000}), 64);                      // just behind a's last call
  b.AddLive(b.AddStack({0x2000}, wire::kNodeExactPc), 64);  // an interrupted instruction
  const auto profile = Read(&b);
  ASSERT_TRUE(profile);
  const auto module_of = [&](RowId row) {
    return profile
        ->modules[profile->locations[profile->nodes[profile->rows[row].leaf].location].module]
        .path;
  };
  EXPECT_EQ(module_of(0), "/bin/a");
  EXPECT_EQ(module_of(1), "/bin/b");
}

TEST(GaugeReader, HalfWrittenRecordsAreLeftOutAndCounted) {
  GaugeBuilder b;
  const uint32_t stack = b.AddStack({0x1000});
  b.AddLive(stack, 100);
  b.AddLive(stack, 100).state = 3;
  b.AddLive(stack, 100).state = 0;  // free
  b.AddLive(stack, 100).size = ~uint64_t{0};
  b.AddLive(stack, 100).interval = ~uint64_t{0};
  const auto profile = Read(&b);
  ASSERT_TRUE(profile);
  EXPECT_EQ(profile->blocks.size(), 1u);
  EXPECT_EQ(profile->recording.unreadable_records, 3u);
}

TEST(GaugeReader, BlocksWithoutAReadableStackStillCount) {
  GaugeBuilder b;
  const uint32_t stack = b.AddStack({0x1000});
  b.AddLive(stack, 100);
  b.AddLive(77, 100);
  b.AddLive(0, 100);
  const auto profile = Read(&b);
  ASSERT_TRUE(profile);
  ASSERT_EQ(profile->rows.size(), 2u);
  EXPECT_EQ(profile->rows[1].leaf, kNone);
  EXPECT_EQ(profile->rows[1].live_samples, 2u);
}

TEST(GaugeReader, ResetHidesOlderBlocks) {
  GaugeBuilder b;
  const uint32_t stack = b.AddStack({0x1000});
  b.AddLive(stack, 100, 1000, 5);
  b.AddLive(stack, 200, 1000, 50);
  b.header().reset_ns = 10;
  const auto profile = Read(&b);
  ASSERT_TRUE(profile);
  ASSERT_EQ(profile->blocks.size(), 1u);
  EXPECT_EQ(profile->blocks[0].size, 200u);
  EXPECT_EQ(profile->recording.unreadable_records, 0u);
}

TEST(GaugeReader, InheritedBlocksCanBeChosen) {
  GaugeBuilder b;
  const uint32_t stack = b.AddStack({0x1000});
  b.AddLive(stack, 100).flags = wire::kLiveInherited;
  b.AddLive(stack, 200);
  GaugeReadOptions options;
  EXPECT_EQ(Read(&b)->blocks.size(), 2u);
  EXPECT_EQ(Read(&b)->recording.inherited_samples, 1u);
  options.inherited = Inherited::kOnly;
  EXPECT_EQ(Read(&b, options)->blocks[0].size, 100u);
  options.inherited = Inherited::kExclude;
  EXPECT_EQ(Read(&b, options)->blocks[0].size, 200u);
}

TEST(GaugeReader, ThePeakIsTheOtherBuffersOrAnError) {
  GaugeBuilder b;
  const uint32_t stack = b.AddStack({0x1000});
  b.AddLive(stack, 100);
  GaugeReadOptions options;
  options.peak = true;
  const auto none = Read(&b, options);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kUnavailable);
  b.AddPeak(stack, 5 << 20);
  b.AddPeak(stack, 6 << 20);
  const auto profile = Read(&b, options);
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_TRUE(profile->recording.is_peak);
  ASSERT_EQ(profile->blocks.size(), 2u);
  EXPECT_EQ(profile->blocks[1].size, 6u << 20);
}

TEST(GaugeReader, TruncatedStacksAreMarked) {
  GaugeBuilder b;
  const uint32_t stack = b.AddStack({0x1000, 0x2000});
  b.nodes()[1].flags = wire::kNodeTruncated;  // the outermost
  b.AddLive(stack, 100);
  EXPECT_TRUE(Read(&b)->rows[0].truncated);
}

TEST(GaugeReader, LongerRecordsOfLaterAgentsAreRead) {
  GaugeBuilder b;
  b.AddLive(b.AddStack({0x1000}), 100);
  std::string bytes = b.Build();
  // Node records of 32 bytes: the second node moves from byte 16 of its segment to byte 32.
  wire::Header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  header.node_bytes = 32;
  std::memcpy(bytes.data(), &header, sizeof header);
  const auto layout = GaugeLayout::Read(MemorySource(bytes), "x");
  ASSERT_TRUE(layout);
  const uint64_t at = *layout->SegmentOffset(wire::SegmentKind::kNodes, 0);
  std::memcpy(&bytes[at + 32], &bytes[at + 16], sizeof(wire::NodeRecord));
  const auto profile = ReadGauge(MemorySource(bytes), "x");
  ASSERT_TRUE(profile);
  ASSERT_EQ(profile->nodes.size(), 1u);
  EXPECT_EQ(profile->locations[0].address, 0x1000u);
}

TEST(GaugeReader, SaysWhatIsWrongInOneLine) {
  struct Case {
    const char* name;
    std::function<void(std::string*)> damage;
    ErrorCode code;
    const char* says;
  };
  const auto set = [](size_t offset, uint32_t value) {
    return [=](std::string* bytes) { std::memcpy(&(*bytes)[offset], &value, sizeof value); };
  };
  const Case cases[] = {
      {"empty", [](std::string* b) { b->clear(); }, ErrorCode::kUnfinished, "no header yet"},
      {"no magic", [](std::string* b) { std::memset(b->data(), 0, 8); }, ErrorCode::kUnfinished,
       "try again"},
      {"text", [](std::string* b) { *b = "hello, this is a text file"; }, ErrorCode::kNotRecognized,
       "not a gauge file"},
      {"version", set(offsetof(wire::Header, version), 9), ErrorCode::kUnsupported, "version 9"},
      {"segment size", set(offsetof(wire::Header, segment_bytes), 4096), ErrorCode::kCorrupt,
       "segment size"},
      {"header size", set(offsetof(wire::Header, header_bytes), 1), ErrorCode::kCorrupt,
       "header size"},
      {"count 0", set(offsetof(wire::Header, segment_count), 0), ErrorCode::kCorrupt,
       "segment count"},
      {"count huge", set(offsetof(wire::Header, segment_count), ~0u), ErrorCode::kCorrupt,
       "segment count"},
      {"node size", set(offsetof(wire::Header, node_bytes), 0), ErrorCode::kCorrupt, "node size"},
      {"live size", set(offsetof(wire::Header, live_bytes), 1 << 20), ErrorCode::kCorrupt,
       "live record size"},
      {"odd size", set(offsetof(wire::Header, stack_bytes), 65), ErrorCode::kCorrupt, "stack size"},
      {"ordinal",
       set(wire::kHeaderBytes + 4, wire::DirectoryWord(wire::SegmentKind::kLive, 0xffffff)),
       ErrorCode::kCorrupt, "ordinal"},
      {"repeat", set(wire::kHeaderBytes + 4, wire::DirectoryWord(wire::SegmentKind::kLive, 0)),
       ErrorCode::kCorrupt, "repeats"},
      {"cut", [](std::string* b) { b->resize(b->size() - 1); }, ErrorCode::kTruncated, "cut short"},
      {"cut in header", [](std::string* b) { b->resize(9000); }, ErrorCode::kTruncated,
       "byte 9000"},
  };
  GaugeBuilder b;
  b.AddLive(b.AddStack({0x1000}), 100);
  for (const Case& c : cases) {
    std::string bytes = b.Build();
    c.damage(&bytes);
    const auto profile = ReadGauge(MemorySource(bytes), "dir/x.hg");
    ASSERT_FALSE(profile) << c.name;
    EXPECT_EQ(profile.error().code, c.code) << c.name << ": " << profile.error().message;
    EXPECT_NE(profile.error().message.find(c.says), std::string::npos) << profile.error().message;
    EXPECT_NE(profile.error().message.find("dir/x.hg"), std::string::npos);
    EXPECT_EQ(profile.error().message.find('\n'), std::string::npos);
  }
}

// A writer that rewrites records all the time: every block that is accepted must be whole.
TEST(GaugeReader, NeverAcceptsATornRecord) {
  GaugeBuilder b;
  const uint32_t stack = b.AddStack({0x1000});
  for (int i = 0; i < 1000; ++i) b.AddLive(stack, 1000, 1000, 1000);
  std::string pattern = ::testing::TempDir() + "heapgauge.XXXXXX";
  const int fd = mkstemp(pattern.data());
  const std::string bytes = b.Build();
  ASSERT_EQ(write(fd, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  const auto file = File::OpenForUpdate(pattern);
  ASSERT_TRUE(file);
  const auto layout = GaugeLayout::Read(*file, pattern);
  ASSERT_TRUE(layout);
  const uint64_t live = *layout->SegmentOffset(wire::SegmentKind::kLive, 0);
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    uint64_t state = 2;
    for (uint64_t n = 1; !stop; ++n) {
      const uint64_t at = live + n % 1000 * sizeof(wire::LiveRecord);
      wire::LiveRecord record{};
      record.state = ++state;  // odd
      record.size = record.birth_ns = record.interval = 1000 + n % 7;
      record.stack = stack;
      static_cast<void>(file->WriteAt(at, &record.state, 8));
      static_cast<void>(file->WriteAt(at + 8, &record.address, sizeof record - 8));
      record.state = ++state;
      static_cast<void>(file->WriteAt(at, &record.state, 8));
    }
  });
  size_t seen = 0;
  for (int i = 0; i < 200; ++i) {
    const auto profile = ReadGauge(*file, pattern);
    ASSERT_TRUE(profile);
    for (const SampledBlock& block : profile->blocks) {
      ++seen;
      ASSERT_EQ(block.size, block.birth_ns);
      ASSERT_EQ(block.size, block.interval);
    }
  }
  stop = true;
  writer.join();
  EXPECT_GT(seen, 150'000u);
  close(fd);
  std::filesystem::remove(pattern);
}

TEST(GaugeSummary, TellsWhenAForkedProcessBegan) {
  std::string pattern = ::testing::TempDir() + "heapgauge.XXXXXX";
  close(mkstemp(pattern.data()));
  const auto read = [&](GaugeBuilder* b) {
    b->WriteTo(pattern);
    return ReadGaugeSummary(pattern)->recording;
  };
  GaugeBuilder b;
  const auto ticks = static_cast<uint64_t>(sysconf(_SC_CLK_TCK));
  b.header().start_monotonic_ns = 100'000'000'000;
  b.header().process_start_ticks = 160 * ticks;
  b.header().ended_ns = 72'000'000'000;
  EXPECT_EQ(read(&b).forked_ns, 0u) << "a process that was not forked began with its clock";
  b.header().forked = 1;
  EXPECT_EQ(read(&b).forked_ns, 60'000'000'000u);
  EXPECT_EQ(read(&b).lived_ns(), 12'000'000'000u);
  b.header().process_start_ticks = 0;
  EXPECT_EQ(read(&b).forked_ns, 0u);
  EXPECT_EQ(read(&b).lived_ns(), 72'000'000'000u);
  b.header().process_start_ticks = UINT64_MAX;
  EXPECT_EQ(read(&b).lived_ns(), 72'000'000'000u);
  std::filesystem::remove(pattern);
}

TEST(GaugeSummary, TellsLiveEndedKilledReplacedAndSnapshot) {
  std::string pattern = ::testing::TempDir() + "heapgauge.XXXXXX";
  close(mkstemp(pattern.data()));
  const auto state = [&](GaugeBuilder* b) {
    b->WriteTo(pattern);
    const auto summary = ReadGaugeSummary(pattern);
    return summary ? summary->recording.state : RecordingState::kUnknown;
  };
  GaugeBuilder b;
  b.AddLive(b.AddStack({0x1000}), 1 << 20);
  EXPECT_EQ(state(&b), RecordingState::kReplaced) << "this process runs and maps no gauge file";
  {
    const testing::ScratchGauge own;
    EXPECT_EQ(state(&b), RecordingState::kSnapshot) << "it maps another one than this";
  }
  b.header().process_start_ticks += 1;
  EXPECT_EQ(state(&b), RecordingState::kKilled) << "another process has got the number";
  b.header().pid = 0x7fffffff;
  EXPECT_EQ(state(&b), RecordingState::kKilled);
  b.header().ended_ns = 5;
  EXPECT_EQ(state(&b), RecordingState::kEnded);
  const auto summary = ReadGaugeSummary(pattern);
  EXPECT_EQ(summary->recording.duration_ns, 5u);
  EXPECT_GE(summary->live_bytes.value, 1 << 20);
  std::filesystem::remove(pattern);
}

}  // namespace
}  // namespace heapgauge
