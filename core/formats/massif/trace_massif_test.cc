#include "core/formats/massif/trace_massif.h"

#include <gtest/gtest.h>

#include "core/formats/massif/massif_tree.h"
#include "core/trace/testing/make_trace.h"

namespace heapgauge::trace {
namespace {

using testing::AddRandomEvents;
using testing::MakeTrace;
using testing::RandomTrace;
using Kind = MassifSnapshot::Kind;

Result<MassifFile> Make(const TraceFile& trace, const MassifRequest& request) {
  const auto stacks = trace.ReadStacks();
  if (!stacks) return tl::unexpected<Error>(stacks.error());
  return TraceMassif(trace, **stacks, request);
}

TEST(TraceMassif, HasTheTruePeakAndNotTooManySnapshots) {
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    MakeTrace made;
    RandomTrace how;
    how.seed = seed;
    how.events = 4000;
    how.greatest_pause_ns = 3'000'000;
    AddRandomEvents(how, &made);
    const auto trace = made.Open();
    for (const MassifUnit unit : {MassifUnit::kMilliseconds, MassifUnit::kBytes}) {
      for (const size_t most : {10, 33, 100, 1000}) {
        MassifRequest request;
        request.unit = unit;
        request.most_snapshots = most;
        const auto file = Make(*trace, request);
        ASSERT_TRUE(file) << file.error().message;
        EXPECT_LE(file->snapshots.size(), most);
        EXPECT_GE(file->snapshots.size(), most / 4);
        const MassifSnapshot& peak = file->snapshots[file->PeakSnapshot()];
        EXPECT_EQ(peak.kind, Kind::kPeak);
        EXPECT_EQ(peak.heap_bytes, made.Peak().first);
        if (unit == MassifUnit::kMilliseconds) {
          EXPECT_EQ(peak.time, made.Peak().second / 1'000'000);
        }
        for (size_t i = 0; i < file->snapshots.size(); ++i) {
          const MassifSnapshot& s = file->snapshots[i];
          EXPECT_EQ(s.number, i);
          if (i > 0) {
            EXPECT_GE(s.time, file->snapshots[i - 1].time);
          }
          EXPECT_EQ(s.tree.empty(), s.kind == Kind::kEmpty);
          if (s.tree.empty()) continue;
          EXPECT_EQ(s.tree[0].bytes, s.heap_bytes);
          uint64_t nodes = 1;
          uint64_t top = 0;  // what the functions below the total have
          for (size_t n = 0; n < s.tree.size(); ++n) nodes += s.tree[n].children;
          EXPECT_EQ(nodes, s.tree.size());
          size_t at = 1;
          for (uint32_t c = 0; c < s.tree[0].children; ++c) {
            top += s.tree[at].bytes;
            for (uint64_t open = 1; open > 0; ++at) open += s.tree[at].children - uint64_t{1};
          }
          EXPECT_EQ(top, s.heap_bytes);
        }
        EXPECT_EQ(file->snapshots.back().heap_bytes, made.LiveBytesAt(made.end_ns()));
        EXPECT_EQ(file->snapshots.front().heap_bytes, 0u);
      }
    }
  }
}

TEST(TraceMassif, WritesStacksAsMassifDoes) {
  MakeTrace made;
  const uint32_t big = made.Stack({"operator new(unsigned long)", "Load#1", "main"});
  const uint32_t small = made.Stack({"Parse", "main"});
  const uint32_t tiny = made.Stack({"Note", "main"});
  made.Allocate(1'000'000, 0, 9000, big);
  made.Allocate(2'000'000, 0, 900, small);
  made.Free(5'000'000, made.Allocate(3'000'000, 0, 16, tiny));
  MassifRequest request;
  request.tree.depth = 1;
  const auto file = Make(*made.Open(), request);
  ASSERT_TRUE(file);
  EXPECT_EQ(file->unit, MassifUnit::kMilliseconds);
  EXPECT_EQ(file->command, "program");
  const MassifSnapshot& peak = file->snapshots[file->PeakSnapshot()];
  EXPECT_EQ(peak.time, 3u);
  EXPECT_EQ(peak.heap_bytes, 9916u);
  EXPECT_EQ(peak.extra_bytes, 8u + 12u);  // to multiples of 16
  std::vector<std::string> lines;
  for (const MassifNode& node : peak.tree) {
    const std::string& text = file->texts[node.text];
    lines.push_back(std::to_string(node.children) + " " + std::to_string(node.bytes) + " " +
                    text.substr(text.find(": ") == std::string::npos ? 0 : text.find(": ") + 2));
  }
  EXPECT_EQ(lines, (std::vector<std::string>{
                       "3 9916 (heap allocation functions) malloc/new/new[], --alloc-fns, etc.",
                       "0 9000 Load 1 (made.cc:1)", "0 900 Parse (made.cc:1)",
                       "0 16 in 1 place, below massif's threshold (1.00%)"}));
}

TEST(TraceMassif, GoesOnToTheEndOfTheRecording) {
  MakeTrace made;
  made.Allocate(1'000'000, 0, 9000, made.Stack({"Load", "main"}));
  made.facts.recording.duration_ns = 2'000'000'000;
  MassifRequest request;
  const auto file = Make(*made.Open(), request);
  ASSERT_TRUE(file) << file.error().message;
  ASSERT_EQ(file->snapshots.size(), 3u);
  const MassifSnapshot& last = file->snapshots.back();
  EXPECT_EQ(last.time, 2000u);
  EXPECT_EQ(last.heap_bytes, 9000u);
  EXPECT_EQ(last.kind, Kind::kDetailed);
  EXPECT_EQ(last.tree.size(), 3u);
  EXPECT_EQ(file->snapshots[1].time, 1u);
  EXPECT_EQ(file->snapshots[1].kind, Kind::kPeak);
  // Of a range, to the end of that.
  request.range.to = TraceMoment::At(5'000'000);
  const auto part = Make(*made.Open(), request);
  ASSERT_TRUE(part) << part.error().message;
  EXPECT_EQ(part->snapshots.back().time, 5u);
  // In bytes nothing follows the last event.
  request.unit = MassifUnit::kBytes;
  const auto bytes = Make(*made.Open(), request);
  ASSERT_TRUE(bytes) << bytes.error().message;
  EXPECT_EQ(bytes->snapshots.size(), 2u);
}

TEST(MassifOfProfile, HasTreesOfThePeakAndOfTheEnd) {
  Profile now;
  now.sample_types = {{"inuse_space", "bytes"}};
  now.recording.command_line = {"server", "-x"};
  now.recording.duration_ns = 5'000'000'000;
  now.recording.has_peak = true;
  now.recording.peak_ns = 2'500'000'000;
  now.recording.peak_bytes = 700;
  Function function;
  function.name = "Load";
  now.functions.push_back(function);
  now.frames.push_back({0, 0, false});
  now.locations.push_back({.first_frame = 0, .frame_count = 1});
  now.nodes.push_back({kNone, 0});
  now.rows.push_back({.leaf = 0});
  now.values = {100};
  for (uint64_t i = 1; i <= 4; ++i) {
    TimelinePoint point;
    point.time_ns = i * 1'000'000'000;
    point.live_bytes = i == 3 ? 720 : 100 * i;  // sampled: higher than the peak that was kept
    now.timeline.push_back(point);
  }
  Profile peak = now;
  peak.values = {700};
  peak.recording.is_peak = true;
  const auto file = MassifOfProfile(now, &peak, MassifUnit::kMilliseconds, 100, {});
  ASSERT_TRUE(file) << file.error().message;
  ASSERT_EQ(file->snapshots.size(), 6u);
  EXPECT_EQ(file->PeakSnapshot(), 2u);
  const MassifSnapshot& top = file->snapshots[2];
  EXPECT_EQ(top.time, 2500u);
  EXPECT_EQ(top.heap_bytes, 700u);
  ASSERT_EQ(top.tree.size(), 2u);
  EXPECT_EQ(file->texts[top.tree[1].text], "0x0: Load");
  EXPECT_EQ(file->snapshots[5].time, 5000u);
  EXPECT_EQ(file->snapshots[5].kind, Kind::kDetailed);
  EXPECT_EQ(file->snapshots[5].tree[0].bytes, 100u);
  // A heap that never shrank.
  now.recording.peak_ns = 5'000'000'000;
  now.recording.peak_bytes = 100;
  const auto grown = MassifOfProfile(now, &peak, MassifUnit::kMilliseconds, 100, {});
  ASSERT_TRUE(grown);
  EXPECT_EQ(grown->snapshots.size(), 5u);
  EXPECT_EQ(grown->snapshots.back().kind, Kind::kPeak);
  now.timeline.clear();
  EXPECT_FALSE(MassifOfProfile(now, nullptr, MassifUnit::kMilliseconds, 100, {}));
}

}  // namespace
}  // namespace heapgauge::trace
