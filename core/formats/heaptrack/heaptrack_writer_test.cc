#include "core/formats/heaptrack/heaptrack_writer.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>

#include "core/base/byte_stream.h"
#include "core/formats/heaptrack/heaptrack_import.h"
#include "core/formats/heaptrack/heaptrack_reader.h"
#include "core/formats/heaptrack/live_blocks.h"
#include "core/trace/testing/make_trace.h"

namespace heapgauge {
namespace {

using trace::testing::AddRandomEvents;
using trace::testing::MakeTrace;
using trace::testing::RandomTrace;
using trace::testing::TemporaryTrace;

int64_t Sum(const Profile& profile, std::string_view type) {
  int64_t sum = 0;
  for (RowId row = 0; row < profile.rows.size(); ++row) {
    sum += profile.value(row, profile.FindType(type));
  }
  return sum;
}

std::map<std::string, int64_t> ByStack(const Profile& profile, std::string_view type) {
  std::map<std::string, int64_t> result;
  std::vector<LocationId> stack;
  for (RowId row = 0; row < profile.rows.size(); ++row) {
    profile.StackOf(row, &stack);
    std::string key;
    for (const LocationId id : stack) {
      const Location& location = profile.locations[id];
      for (uint32_t i = 0; i < location.frame_count; ++i) {
        const Frame& frame = profile.frames[location.first_frame + i];
        key += profile.functions[frame.function].name + ":" + std::to_string(frame.line) + ";";
      }
    }
    result[key] += profile.value(row, profile.FindType(type));
  }
  return result;
}

std::string Written(const trace::TraceFile& file) {
  const auto stacks = file.ReadStacks();
  EXPECT_TRUE(stacks);
  StringSink sink;
  const auto done = WriteHeaptrack(file, **stacks, nullptr, &sink);
  EXPECT_TRUE(done) << done.error().message;
  return sink.Take();
}

Profile Read(const std::string& text) {
  auto profile = ReadHeaptrack(StreamOf(text).get(), "x");
  EXPECT_TRUE(profile) << profile.error().message;
  return profile ? *std::move(profile) : Profile();
}

std::shared_ptr<const trace::TraceFile> Import(const std::string& text, HeaptrackImport* import) {
  const TemporaryTrace file;
  auto writer = trace::TraceWriter::Create(file.path(), {}, {.segment_events = 16}, true);
  EXPECT_TRUE(writer) << writer.error().message;
  HeaptrackImportOptions options;
  options.build_id_of = [](const std::string& path) {
    return path == "/bin/sh" ? std::string("00ffa1") : std::string();
  };
  auto done = ImportHeaptrack(StreamOf(text).get(), "x", options, writer->get());
  EXPECT_TRUE(done) << done.error().message;
  if (done) *import = *std::move(done);
  auto opened = trace::TraceFile::Open(file.path());
  EXPECT_TRUE(opened) << opened.error().message;
  return *opened;
}

TEST(HeaptrackWriter, WritesEveryEventOfATrace) {
  MakeTrace made;
  const uint32_t grow = made.Stack({"Grow", "main"});
  const uint32_t put = made.Stack({"Put", "main"});
  const uint64_t first = made.Allocate(1'000'000, 0, 100, grow);
  made.Memory(2'000'000, 40960);
  const uint64_t second = made.Allocate(15'000'000, 0, 10, put);
  made.Free(15'000'100, second);
  made.Map(16'000'000, 0, 4096, put);
  made.Reallocate(30'000'000, first, 250, grow);
  EXPECT_EQ(
      Written(*made.Open()),
      "v 10400 3\n"
      "# made by heapgauge from a trace: every allocation and free in order\n"
      "X program\n" +
          [] {
            char line[64];
            snprintf(line, sizeof line, "I 1000 %lx\n",
                     static_cast<unsigned long>(sysconf(_SC_PHYS_PAGES)));
            return std::string(line);
          }() +
          "a 0 0\n"
          "s d /made/program\ns 4 main\ns 7 made.cc\ni 1000000f 1 2 3 1\nt 1 0\n"
          "s 4 Grow\ni 1000001f 1 4 3 1\nt 2 1\na 64 2\n+ 1\n"
          "c 2\nR a\nc f\n"
          "s 3 Put\ni 1000002f 1 5 3 1\nt 3 1\na a 3\n+ 2\n- 2\n"
          "c 1e\n- 1\na fa 2\n+ 3\n");
}

TEST(HeaptrackWriter, KeepsAllFiguresOfATrace) {
  MakeTrace made;
  RandomTrace how;
  how.events = 5000;
  AddRandomEvents(how, &made);
  int64_t allocations = 0;
  int64_t live = 0;
  for (const trace::Block& block : made.blocks()) {
    if (block.is_mapping) continue;
    ++allocations;
    if (block.is_live()) live += static_cast<int64_t>(block.size);
  }
  const Profile profile = Read(Written(*made.Open()));
  EXPECT_EQ(Sum(profile, "alloc_objects"), allocations);
  EXPECT_EQ(Sum(profile, "inuse_space"), live);
  EXPECT_EQ(Sum(profile, "peak_space"), static_cast<int64_t>(made.Peak().first));
  EXPECT_TRUE(profile.notes.empty());
}

TEST(HeaptrackWriter, WritesLiveBlocksOfAProfile) {
  Profile profile;
  profile.sample_types = HeapSampleTypes();
  profile.functions.resize(2);
  profile.functions[0].name = "f \n g";
  profile.functions[0].file = "a b.c";
  profile.functions[1].name = "main";
  profile.frames = {{0, 7}, {1, 9}};
  Location location;
  location.frame_count = 1;
  profile.locations = {location, location};
  profile.locations[1].first_frame = 1;
  profile.nodes = {{kNone, 1}, {0, 0}};
  profile.rows.resize(4);
  profile.rows[0].leaf = 1;
  profile.rows[2].leaf = 0;
  profile.values = {9, 900, 3, 101, 5, 50, 1, 7, 1, 1, 0, 5, 1, 1, 2, -5};
  ASSERT_TRUE(profile.Check());
  StringSink sink;
  const auto done = WriteHeaptrack(profile, {}, &sink);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->allocations, 4u);
  EXPECT_EQ(done->skipped_rows, 2u);
  const Profile back = Read(sink.text());
  EXPECT_EQ(ByStack(back, "inuse_space"),
            (std::map<std::string, int64_t>{{"f   g:7;main:9;", 101}, {"", 7}}));
  EXPECT_EQ(ByStack(back, "inuse_objects"),
            (std::map<std::string, int64_t>{{"f   g:7;main:9;", 3}, {"", 1}}));
  EXPECT_EQ(Sum(back, "temporary_objects"), 0);
  EXPECT_NE(sink.text().find("\n# made by heapgauge from a profile: the blocks that were live"),
            std::string::npos);

  profile.value(0, kInuseObjects) = INT64_MAX;
  EXPECT_FALSE(WriteHeaptrack(profile, {}, &sink)) << "that would be many lines";
  profile.sample_types[kInuseSpace].name = "other";
  EXPECT_FALSE(WriteHeaptrack(profile, {}, &sink));
}

constexpr const char* kRaw =
    "v 10400 3\nx 7 /bin/sh\nX sh -c x\nI 1000 10\nm 1 -\nm 1 x 1000 0 800\n"
    "t 1010 0\nt 1020 1\nt 90000 1\n"
    "+ 10 2 aa0\n- aa0\n+ 20 2 bb0\nc a\nR 5\n+ 20 2 cc0\n- ff0\n- bb0\n+ 8 3 cc0\nc 1e\n";

TEST(HeaptrackImport, MakesATraceOfARawFile) {
  HeaptrackImport import;
  const auto file = Import(kRaw, &import);
  EXPECT_EQ(import.allocations, 4u);
  EXPECT_EQ(import.frees, 2u);
  EXPECT_EQ(import.live, 1u);
  EXPECT_EQ(import.guessed_frees, 0u);
  const trace::Facts& facts = file->facts();
  EXPECT_TRUE(facts.complete);
  EXPECT_EQ(facts.recording.program, "/bin/sh");
  EXPECT_EQ(facts.recording.command_line, (std::vector<std::string>{"sh", "-c", "x"}));
  EXPECT_EQ(facts.recording.duration_ns, 30'000'000u);
  EXPECT_EQ(facts.unknown_frees, 1u);
  EXPECT_EQ(facts.missed_frees, 1u);
  ASSERT_EQ(file->memory().size(), 1u);
  EXPECT_EQ(file->memory()[0].resident_bytes, 5u * 4096);
  EXPECT_EQ(file->blocks(), 4u);
  trace::Segment segment;
  ASSERT_TRUE(file->ReadSegment(0, trace::kEverything, &segment));
  ASSERT_EQ(segment.blocks.size(), 4u);
  EXPECT_EQ(segment.blocks[0].address, 0xaa0u);
  EXPECT_EQ(segment.blocks[0].distance, 0u);
  EXPECT_EQ(segment.blocks[0].death_ns, 0u);
  EXPECT_EQ(segment.blocks[1].distance, 1u);
  EXPECT_EQ(segment.blocks[1].death_ns, 10'000'000u);
  EXPECT_EQ(segment.blocks[2].death_ns, 10'000'000u) << "its address was handed out again";
  EXPECT_TRUE(segment.blocks[3].is_live());
  const auto stacks = file->ReadStacks();
  ASSERT_TRUE(stacks);
  const Profile& profile = (*stacks)->profile;
  ASSERT_FALSE(profile.modules.empty());
  EXPECT_EQ(profile.modules[0].build_id, "00ffa1");
  EXPECT_EQ(profile.modules[0].load_bias, 0x1000u);
  EXPECT_EQ((*stacks)->stacks.size(), 3u);
}

TEST(HeaptrackImport, KeepsNamesAndGuessesFreesOfAnInterpretedFile) {
  HeaptrackImport import;
  const auto file = Import(
      "v 10400 3\nX ./s\ns 6 /bin/s\ns 4 main\ns 3 a.c\ns 3 Put\n"
      "i 7f0000000100 1\nt 1 0\ni 7f0000000200 1 4 3 14 2 3 15\nt 2 1\n"
      "a 64 2\nc a\n+ 0\nc 14\n+ 0\n+ 0\n- 0\n- 0\nc 1e\n",
      &import);
  EXPECT_EQ(import.guessed_frees, 2u);
  trace::Segment segment;
  ASSERT_TRUE(file->ReadSegment(0, trace::kEverything, &segment));
  ASSERT_EQ(segment.blocks.size(), 3u);
  EXPECT_FALSE(segment.blocks[0].is_live()) << "the oldest, for the second free";
  EXPECT_TRUE(segment.blocks[1].is_live());
  EXPECT_EQ(segment.blocks[2].distance, 0u) << "the newest, which was temporary";
  ASSERT_EQ(file->markers().size(), 1u);
  const auto stacks = file->ReadStacks();
  ASSERT_TRUE(stacks);
  const Profile& profile = (*stacks)->profile;
  std::string names;
  for (NodeId node = (*stacks)->stacks[1].leaf; node != kNone; node = profile.nodes[node].parent) {
    const Location& location = profile.locations[profile.nodes[node].location];
    ASSERT_NE(location.module, kNone);
    EXPECT_EQ(profile.modules[location.module].path, "/bin/s");
    for (uint32_t i = 0; i < location.frame_count; ++i) {
      const Frame& frame = profile.frames[location.first_frame + i];
      names += profile.functions[frame.function].name + ":" + std::to_string(frame.line) + " ";
    }
  }
  EXPECT_EQ(names, "Put:20 main:21 s 0x7f0000000100:0 ");
}

TEST(HeaptrackImport, GivesBackWhatWasWritten) {
  MakeTrace made;
  RandomTrace how;
  how.events = 4000;
  how.mappings = 0;
  AddRandomEvents(how, &made);
  const std::string text = Written(*made.Open());
  HeaptrackImport import;
  const auto file = Import(text, &import);
  const Profile a = Read(text);
  const Profile b = Read(Written(*file));
  for (const char* type : {"alloc_objects", "alloc_space", "inuse_objects", "inuse_space",
                           "peak_space", "peak_objects", "temporary_objects"}) {
    EXPECT_EQ(ByStack(a, type), ByStack(b, type)) << type;
  }
}

TEST(LiveBlocks, GiveBackTheOldestOrNewestOfAPair) {
  LiveBlocks live;
  for (uint64_t i = 0; i < 6; ++i) live.AddByPair(i % 2 == 0 ? 7 : 3, {i, 0, 0, 0, 0});
  LiveHeaptrackBlock block;
  bool several = false;
  ASSERT_TRUE(live.TakeByPair(7, false, &block, &several));
  EXPECT_EQ(block.number, 0u);
  EXPECT_TRUE(several);
  ASSERT_TRUE(live.TakeByPair(7, true, &block, &several));
  EXPECT_EQ(block.number, 4u);
  ASSERT_TRUE(live.TakeByPair(7, true, &block, &several));
  EXPECT_EQ(block.number, 2u);
  EXPECT_FALSE(several);
  EXPECT_FALSE(live.TakeByPair(7, true, &block, &several));
  EXPECT_FALSE(live.TakeByPair(99, true, &block, &several));
  live.AddByPair(7, {9, 0, 0, 0, 0});
  EXPECT_EQ(live.size(), 4u);
  const std::vector<LiveHeaptrackBlock> all = live.All();
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all.front().number, 1u);
  EXPECT_EQ(all.back().number, 9u);
}

}  // namespace
}  // namespace heapgauge
