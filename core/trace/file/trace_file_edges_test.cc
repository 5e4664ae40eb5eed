// Traces that are odd, but right: numbers at their limits, many threads, chains of realloc, blocks
// that outlive many segments.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>

#include "core/trace/testing/expect_trace.h"
#include "core/trace/testing/make_trace.h"

namespace heapgauge::trace {
namespace {

using testing::AddRandomEvents;
using testing::ExpectAllSame;
using testing::MakeTrace;
using testing::RandomTrace;

TEST(TraceFileEdges, NumbersMayBeAsLargeAsTheyGet) {
  MakeTrace made;
  constexpr uint64_t kDay = 86'400'000'000'000;
  Block block;
  block.thread = 70'000;
  block.stack = made.Stack({"f"});
  block.slack = 65535;
  block.function = 255;
  block.alignment_log2 = 63;
  std::vector<uint64_t> numbers;
  for (int i = 0; i < 300; ++i) {
    block.birth_ns = i * kDay;
    block.size = (uint64_t{1} << 47) - i;
    block.address = 0x7fff'ffff'ffff - i;
    block.is_mapping = i % 2 == 1;
    numbers.push_back(made.Allocate(block));
  }
  for (int i = 0; i < 250; ++i) made.Free((300 + i) * kDay, numbers[(i * 7) % 300], i % 3);
  ExpectAllSame(made, *made.Open());
}

TEST(TraceFileEdges, ChainsOfReallocKeepTheirLinks) {
  MakeTrace made;
  made.options.segment_events = 7;
  const uint32_t stack = made.Stack({"grow", "main"});
  uint64_t now = 0;
  for (int chain = 0; chain < 20; ++chain) {
    uint64_t block = made.Allocate(++now, 0, 16, stack);
    for (int i = 0; i < 11; ++i) {
      // Every other time it stays where it is.
      Block next = made.blocks()[block];
      block = made.Reallocate(++now, block, next.size * 2, stack, i % 4 == 3 ? 1 : 0);
    }
    if (chain % 2 == 0) made.Free(++now, block);
  }
  ExpectAllSame(made, *made.Open());
}

TEST(TraceFileEdges, ManyThreadsTakeTurns) {
  MakeTrace made;
  made.options.segment_events = 5000;
  RandomTrace how;
  how.threads = 300;
  how.events = 20000;
  how.foreign_frees = 0.5;
  AddRandomEvents(how, &made);
  ExpectAllSame(made, *made.Open());
}

TEST(TraceFileEdges, EveryOrderOfFreeingComesBack) {
  for (int order = 0; order < 4; ++order) {
    MakeTrace made;
    made.options.segment_events = 400;
    uint64_t now = 0;
    for (int round = 0; round < 10; ++round) {
      std::vector<uint64_t> blocks;
      for (int i = 0; i < 50; ++i) {
        blocks.push_back(made.Allocate(++now, i % 2, 24 + i % 5, made.Stack({"f"})));
      }
      if (order == 1) std::reverse(blocks.begin(), blocks.end());
      if (order == 2) std::rotate(blocks.begin(), blocks.begin() + 20, blocks.end());
      for (size_t i = 0; i < blocks.size(); ++i) {
        made.Free(++now, blocks[i], order == 3 ? 5 : made.blocks()[blocks[i]].thread);
      }
    }
    ExpectAllSame(made, *made.Open());
  }
}

TEST(TraceFileEdges, ManyStacksInOneSegmentComeBack) {
  MakeTrace made;
  made.options.segment_events = 1 << 20;
  made.write_names = false;
  std::vector<testing::FakeFrame> frames;
  for (int i = 0; i < 300; ++i) frames.emplace_back("f" + std::to_string(i));
  uint64_t now = 0;
  uint64_t last = kNoBlock;
  for (int i = 0; i < 70'000; ++i) {
    const uint32_t stack = made.Stack({frames[i % 300], frames[i / 300], "main"});
    const uint64_t block = made.Allocate(++now, 0, i % 100, stack);
    if (i % 3 == 0) made.Free(++now, block);
    if (i % 3 == 1) last = block;
    if (i % 30 == 2) made.Free(++now, last);
  }
  const auto trace = made.Open();
  ASSERT_EQ(trace->segments().size(), 1);
  ExpectAllSame(made, *trace);
}

// A recorder that leaves out blocks of short lives knows distances that the rest does not tell.
TEST(TraceFileEdges, DistancesAreThoseOfTheCaller) {
  const testing::TemporaryTrace file;
  TraceWriter::Options options;
  options.segment_events = 1000;
  auto writer = TraceWriter::Create(file.path(), {}, options, true);
  ASSERT_TRUE(writer);
  for (uint64_t i = 0; i < 100; ++i) {
    Block block;
    block.number = i;
    block.birth_ns = block.death_ns = i;
    block.death_thread = 0;
    block.distance = i % 3 == 0 ? 0 : i % 3 == 1 ? static_cast<uint32_t>(1000 + i) : kForeign;
    (*writer)->Allocate(block);
    (*writer)->Free(block);
  }
  ASSERT_TRUE((*writer)->Finish({}));
  const auto trace = TraceFile::Open(file.path());
  ASSERT_TRUE(trace);
  Segment segment;
  ASSERT_TRUE((*trace)->ReadSegment(0, kEverything, &segment));
  for (uint64_t i = 0; i < 100; ++i) {
    const uint32_t expected = i % 3 == 0   ? 0
                              : i % 3 == 1 ? static_cast<uint32_t>(1000 + i)
                                           : kForeign;
    EXPECT_EQ(segment.blocks[i].distance, expected) << i;
  }
}

TEST(TraceFileEdges, StacksAndThreadsBeyondAllBoundsBecomeUnknown) {
  const testing::TemporaryTrace file;
  auto writer = TraceWriter::Create(file.path(), {}, {}, true);
  ASSERT_TRUE(writer);
  Block block;
  block.stack = 0xffff'fff0;
  block.thread = 0xfff'fff0;
  (*writer)->Allocate(block);
  (*writer)->BeginSurvivors();
  (*writer)->AddSurvivor(block);
  ASSERT_TRUE((*writer)->Finish({}));
  const auto trace = TraceFile::Open(file.path());
  ASSERT_TRUE(trace);
  Segment segment;
  const Status status = (*trace)->ReadSegment(0, kEverything, &segment);
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_EQ(segment.blocks[0].stack, 0);
  EXPECT_EQ(segment.blocks[0].thread, kNoIndex);
  EXPECT_TRUE((*trace)->ForEachSurvivor([](const Block& b) { EXPECT_EQ(b.thread, kNoIndex); }));
}

TEST(TraceFileEdges, AnExistingFileIsNotReplacedUnlessToldTo) {
  const testing::TemporaryTrace file;
  const auto refused = TraceWriter::Create(file.path(), {}, {});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("exists"), std::string::npos) << refused.error().message;
  EXPECT_TRUE(TraceWriter::Create(file.path(), {}, {}, true));
}

TEST(TraceFileEdges, AFullDiskIsToldByFinish) {
  auto writer = TraceWriter::Create("/dev/full", {}, {}, true);
  // Either at once or at the end, but not never.
  if (writer) {
    EXPECT_FALSE((*writer)->Finish({}));
  } else {
    EXPECT_NE(writer.error().message.find("/dev/full"), std::string::npos);
  }
}

TEST(TraceFileEdges, AFileThatCannotBeBegunDoesNotStay) {
  std::string path;
  {
    const testing::TemporaryTrace file;
    path = file.path();
  }
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  signal(SIGXFSZ, SIG_IGN);
  const rlimit little{10, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &little), 0);
  const auto writer = TraceWriter::Create(path, {}, {});
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, SIG_DFL);
  EXPECT_FALSE(writer);
  EXPECT_NE(access(path.c_str(), F_OK), 0);
}

TEST(TraceFileEdges, SegmentsAreReadByManyThreadsAtOnce) {
  MakeTrace made;
  made.options.segment_events = 500;
  AddRandomEvents({}, &made);
  const auto trace = made.Open();
  std::atomic<int> good = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      Segment segment;
      std::vector<StackSums> sums;
      for (size_t s = 0; s < trace->segments().size(); ++s) {
        if (!trace->ReadSegment(s, kEverything, &segment)) return;
        if (!trace->ReadSums(s, &sums)) return;
        if (segment.blocks.back().birth_ns == 0) return;
      }
      if (trace->ReadStacks()) ++good;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 4);
}

TEST(TraceFileEdges, NodesMayComeInAnyOrderAndAreReplaced) {
  const testing::TemporaryTrace file;
  auto writer = TraceWriter::Create(file.path(), {}, {}, true);
  ASSERT_TRUE(writer);
  (*writer)->AddNode(9, {wire::PackPc(0x3000, 0), 4, 0});
  (*writer)->AddNode(4, {wire::PackPc(0x1000, 0), 0, wire::kNodeTruncated});
  (*writer)->AddStack(3, 9, 0, 0);
  ASSERT_TRUE((*writer)->Flush());
  (*writer)->AddNode(9, {wire::PackPc(0x5000, 0), 4, wire::kNodeExactPc});
  (*writer)->AddFrames(wire::PackPc(0x5000, 0), true, {{"inner", "a.cc", 3}, {"outer", "b.cc", 4}});
  ASSERT_TRUE((*writer)->Finish({}));
  const auto trace = TraceFile::Open(file.path());
  ASSERT_TRUE(trace);
  ASSERT_EQ((*trace)->stack_count(), 4);
  const auto stacks = (*trace)->ReadStacks();
  ASSERT_TRUE(stacks);
  const Profile& profile = (*stacks)->profile;
  ASSERT_TRUE(profile.Check());
  const TraceFile::Stacks::Stack& stack = (*stacks)->stacks[3];
  EXPECT_TRUE(stack.truncated);
  const Location& leaf = profile.locations[profile.nodes[stack.leaf].location];
  EXPECT_EQ(leaf.address, 0x5000);
  EXPECT_TRUE(leaf.exact);
  ASSERT_EQ(leaf.frame_count, 2);
  EXPECT_TRUE(profile.frames[leaf.first_frame].inlined);
  EXPECT_EQ(profile.functions[profile.frames[leaf.first_frame + 1].function].name, "outer");
  const NodeId parent = profile.nodes[stack.leaf].parent;
  ASSERT_NE(parent, kNone);
  EXPECT_EQ(profile.locations[profile.nodes[parent].location].address, 0x1000);
}

}  // namespace
}  // namespace heapgauge::trace
