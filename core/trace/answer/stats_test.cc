#include "core/trace/answer/stats.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/trace/testing/make_trace.h"

namespace heapgauge::trace {
namespace {

using testing::AddRandomEvents;
using testing::MakeTrace;
using testing::RandomTrace;

constexpr uint64_t kSecond = 1'000'000'000;

MakeTrace Random(uint64_t seed) {
  MakeTrace made;
  RandomTrace how;
  how.seed = seed;
  how.events = 6000;
  how.greatest_size = 1 << 20;
  how.reallocated = 0.2;
  how.mappings = 0.05;
  how.cuts = 0.5;
  how.greatest_pause_ns = 2'000'000;
  AddRandomEvents(how, &made);
  return made;
}

BlockGroups GroupsOf(const TraceFile& trace, GroupBy by = GroupBy::kFunction) {
  return {**trace.ReadStacks(), by, trace.threads().size()};
}

bool IsHeap(const Block& block) { return !block.is_mapping; }
bool CalledRealloc(const Block& block) {
  return block.function == static_cast<uint8_t>(wire::AllocationFunction::kRealloc);
}

// All figures that are sums over blocks, by the list of blocks.
template <typename Wanted>
void ExpectSums(const TraceStats& stats, const MakeTrace& made, const BlockGroups& groups,
                const StatsRequest& request, const Wanted& wanted) {
  BlockCount allocated, freed, never, temporary, large;
  uint64_t slack = 0, resizes = 0, pieces = 0, unlinked = 0;
  std::map<uint64_t, RateBin> bins;
  std::map<size_t, BlockCount> sizes, calls, alignments;
  std::map<uint64_t, uint64_t> exact;
  std::map<uint32_t, ThreadStats> threads;
  std::map<uint32_t, GroupStats> by_group;
  for (const Block& b : made.blocks()) {
    if (!wanted(b)) continue;
    allocated.Add(b.size);
    sizes[SizeClassOf(b.size)].Add(b.size);
    calls[b.function].Add(b.size);
    alignments[b.alignment_log2].Add(b.size);
    ++exact[b.size];
    slack += b.slack;
    (b.is_mapping ? pieces : resizes) += b.previous != kNoBlock ? 1 : 0;
    unlinked += b.previous == kNoBlock && CalledRealloc(b) ? 1 : 0;
    RateBin& born = bins[b.birth_ns / kSecond];
    ++born.allocations;
    born.bytes += b.size;
    threads[b.thread].allocated.Add(b.size);
    GroupStats& group = by_group[groups.Of(b)];
    group.all.Add(b.size);
    group.slack_bytes += b.slack;
    if (b.is_live()) {
      never.Add(b.size);
      group.never_freed.Add(b.size);
      threads[b.thread].never_freed.Add(b.size);
      continue;
    }
    freed.Add(b.size);
    ++bins[b.death_ns / kSecond].frees;
    ++threads[b.death_thread].frees;
    if (b.death_thread != b.thread) {
      ++threads[b.death_thread].frees_of_others;
      ++threads[b.thread].freed_by_others;
    }
    if (b.death_thread == b.thread && b.distance <= request.temporary_within) {
      temporary.Add(b.size);
      group.temporary.Add(b.size);
    }
    if (b.size >= request.large_bytes && b.death_ns - b.birth_ns < request.short_ns) {
      large.Add(b.size);
      group.short_large.Add(b.size);
    }
  }
  EXPECT_EQ(stats.allocated, allocated);
  EXPECT_EQ(stats.freed, freed);
  EXPECT_EQ(stats.never_freed, never);
  EXPECT_EQ(stats.temporary, temporary);
  EXPECT_EQ(stats.short_large, large);
  EXPECT_EQ(stats.slack_bytes, slack);
  EXPECT_EQ(stats.resizes, resizes);
  EXPECT_EQ(stats.pieces, pieces);
  EXPECT_EQ(stats.unlinked_reallocs, unlinked);
  EXPECT_EQ(stats.distinct_sizes, exact.size());
  for (const ExactSize& size : stats.exact_sizes) EXPECT_EQ(size.blocks, exact[size.size]);
  for (size_t i = 0; i < stats.rates.bins.size(); ++i) {
    EXPECT_EQ(stats.rates.bins[i].allocations, bins[i].allocations) << i;
    EXPECT_EQ(stats.rates.bins[i].bytes, bins[i].bytes) << i;
    EXPECT_EQ(stats.rates.bins[i].frees, bins[i].frees) << i;
    EXPECT_LE(stats.rates.bins[i].allocations, stats.rates.bins[stats.rates.busiest].allocations);
  }
  RateBin course;
  for (const RateBin& part : stats.rates.course) course.Add(part);
  EXPECT_EQ(course.allocations, allocated.blocks);
  EXPECT_EQ(course.bytes, allocated.bytes);
  EXPECT_EQ(course.frees, freed.blocks);
  for (size_t i = 0; i < kSizeClasses; ++i) EXPECT_EQ(stats.sizes[i].all, sizes[i]) << i;
  for (size_t i = 0; i < kCallKinds; ++i) EXPECT_EQ(stats.calls[i], calls[i]) << i;
  for (size_t i = 0; i < kAlignments; ++i) EXPECT_EQ(stats.alignments[i], alignments[i]) << i;
  for (uint32_t i = 0; i < stats.threads.size(); ++i) {
    EXPECT_EQ(stats.threads[i].allocated, threads[i].allocated) << i;
    EXPECT_EQ(stats.threads[i].frees, threads[i].frees) << i;
    EXPECT_EQ(stats.threads[i].frees_of_others, threads[i].frees_of_others) << i;
    EXPECT_EQ(stats.threads[i].freed_by_others, threads[i].freed_by_others) << i;
    EXPECT_EQ(stats.threads[i].never_freed, threads[i].never_freed) << i;
  }
  for (uint32_t i = 0; i < stats.groups.size(); ++i) {
    EXPECT_EQ(stats.groups[i].all, by_group[i].all) << i;
    EXPECT_EQ(stats.groups[i].never_freed, by_group[i].never_freed) << i;
    EXPECT_EQ(stats.groups[i].temporary, by_group[i].temporary) << i;
    EXPECT_EQ(stats.groups[i].short_large, by_group[i].short_large) << i;
    EXPECT_EQ(stats.groups[i].slack_bytes, by_group[i].slack_bytes) << i;
  }
}

// The most that was live of the wanted blocks, event by event.
template <typename Wanted>
StatsPeak PeakOf(const MakeTrace& made, const Wanted& wanted) {
  StatsPeak peak;
  uint64_t bytes = 0, blocks = 0;
  for (const auto& event : made.events()) {
    if (event.died != kNoBlock && wanted(made.blocks()[event.died])) {
      bytes -= made.blocks()[event.died].size;
      --blocks;
    }
    if (event.born != kNoBlock && wanted(made.blocks()[event.born])) {
      bytes += made.blocks()[event.born].size;
      ++blocks;
    }
    if (bytes > peak.bytes) peak = {bytes, blocks, event.time_ns};
  }
  return peak;
}

void ExpectSame(const StatsPeak& a, const StatsPeak& b) {
  EXPECT_EQ(a.bytes, b.bytes);
  EXPECT_EQ(a.blocks, b.blocks);
  EXPECT_EQ(a.time_ns, b.time_ns);
}

TEST(Stats, AreThoseOfTheListOfBlocks) {
  for (const uint64_t seed : {1, 2, 3}) {
    const MakeTrace made = Random(seed);
    const auto trace = made.Open();
    ASSERT_GT(trace->segments().size(), 10u);
    const BlockGroups groups = GroupsOf(*trace);
    StatsRequest request;
    request.temporary_within = static_cast<uint32_t>(seed - 1) * 3;
    const auto stats = ReadStats(*trace, groups, request);
    ASSERT_TRUE(stats) << stats.error().message;
    ExpectSums(*stats, made, groups, request, IsHeap);
    ExpectSame(stats->peak, PeakOf(made, IsHeap));
  }
}

TEST(Stats, OfAForkedProcessHaveTheRatesOfItsOwnTime) {
  MakeTrace made = Random(4);
  made.facts.recording.forked = true;
  made.facts.recording.forked_ns = 1'000'000;
  const auto trace = made.Open();
  const BlockGroups groups = GroupsOf(*trace);
  StatsRequest request;
  EXPECT_EQ(ReadStats(*trace, groups, request)->rates.over_ns, trace->end_ns() - 1'000'000);
  BlockFilter filter;
  filter.born.to = TraceMoment::At(3'000'000);
  const auto matcher = Matcher::Compile(filter, *trace, **trace->ReadStacks());
  ASSERT_TRUE(matcher);
  request.matcher = &*matcher;
  EXPECT_EQ(ReadStats(*trace, groups, request)->rates.over_ns, 2'000'000u);
}

TEST(Stats, WithAFilterAreThoseOfTheBlocksThatItLeaves) {
  const MakeTrace made = Random(9);
  const auto trace = made.Open();
  const BlockGroups groups = GroupsOf(*trace);
  BlockFilter filter;
  filter.greatest_size = 5000;
  filter.freed = true;
  const auto matcher = Matcher::Compile(filter, *trace, **trace->ReadStacks());
  ASSERT_TRUE(matcher);
  StatsRequest request;
  request.matcher = &*matcher;
  const auto stats = ReadStats(*trace, groups, request);
  ASSERT_TRUE(stats) << stats.error().message;
  const auto wanted = [](const Block& b) {
    return !b.is_mapping && b.size <= 5000 && !b.is_live();
  };
  ExpectSums(*stats, made, groups, request, wanted);
  ExpectSame(stats->peak, PeakOf(made, wanted));
}

TEST(Stats, WhatIsLeftOfAMappingWasNotResizedByRealloc) {
  MakeTrace made;
  const uint32_t stack = made.Stack({"leaf", "main"});
  Block whole;
  whole.birth_ns = 10;
  whole.address = 0x10000;
  whole.size = 8192;
  whole.stack = stack;
  whole.is_mapping = true;
  const uint64_t first = made.Allocate(whole);
  made.Free(20, first);
  Block piece = whole;
  piece.birth_ns = 20;
  piece.size = 4096;
  piece.previous = first;
  made.Allocate(piece);
  const auto trace = made.Open();
  const BlockGroups groups = GroupsOf(*trace);
  StatsRequest request;
  BlockFilter filter;
  filter.mappings = true;
  const auto stacks = trace->ReadStacks();
  ASSERT_TRUE(stacks);
  const auto matcher = Matcher::Compile(filter, *trace, **stacks);
  ASSERT_TRUE(matcher);
  request.matcher = &*matcher;
  const auto stats = ReadStats(*trace, groups, request);
  ASSERT_TRUE(stats);
  EXPECT_EQ(stats->allocated.blocks, 2u);
  EXPECT_EQ(stats->pieces, 1u);
  EXPECT_EQ(stats->resizes, 0u);
}

TEST(Stats, ChainsOfReallocAreFollowedToTheirEnds) {
  const MakeTrace made = Random(4);
  const auto trace = made.Open();
  const BlockGroups groups = GroupsOf(*trace);
  const auto stats = ReadStats(*trace, groups, {});
  ASSERT_TRUE(stats);
  ChainSums total;
  std::map<uint32_t, ChainSums> rows;
  for (const Block& last : made.blocks()) {
    if (last.previous == kNoBlock || last.resized_away || last.is_mapping) continue;
    ChainSums chain;
    chain.chains = 1;
    chain.last_bytes = last.size;
    const Block* block = &last;
    for (; block->previous != kNoBlock; block = &made.blocks()[block->previous]) {
      const Block& old = made.blocks()[block->previous];
      ++chain.resizes;
      chain.growths += block->size > old.size ? 1 : 0;
      if (old.address != block->address) {
        ++chain.moves;
        chain.copied_bytes += std::min(old.size, block->size);
      }
    }
    chain.first_bytes = block->size;
    chain.longest = chain.resizes;
    total.Add(chain);
    rows[groups.Of(last)].Add(chain);
  }
  ASSERT_GT(total.chains, 100u);
  ASSERT_GT(total.longest, 3u);
  const auto expect_same = [](const ChainSums& a, const ChainSums& b) {
    EXPECT_EQ(a.chains, b.chains);
    EXPECT_EQ(a.resizes, b.resizes);
    EXPECT_EQ(a.growths, b.growths);
    EXPECT_EQ(a.moves, b.moves);
    EXPECT_EQ(a.copied_bytes, b.copied_bytes);
    EXPECT_EQ(a.first_bytes, b.first_bytes);
    EXPECT_EQ(a.last_bytes, b.last_bytes);
    EXPECT_EQ(a.longest, b.longest);
  };
  expect_same(stats->chains, total);
  ASSERT_EQ(stats->chain_rows.size(), rows.size());
  for (const ChainSums& row : stats->chain_rows) expect_same(row, rows[row.group]);
}

TEST(Stats, ChainsAreOfTheBlocksThatAFilterLeaves) {
  const MakeTrace made = Random(4);
  const auto trace = made.Open();
  const BlockGroups groups = GroupsOf(*trace);
  BlockFilter by_size;
  by_size.least_size = 1000;
  BlockFilter by_time;
  by_time.born = {TraceMoment::At(made.end_ns() / 3), TraceMoment::At(made.end_ns() / 2)};
  BlockFilter by_end;
  by_end.freed = true;
  by_end.least_lifetime_ns = 50'000'000;
  for (const BlockFilter& filter : {by_size, by_time, by_end}) {
    const auto matcher = Matcher::Compile(filter, *trace, **trace->ReadStacks());
    ASSERT_TRUE(matcher);
    StatsRequest request;
    request.matcher = &*matcher;
    const auto stats = ReadStats(*trace, groups, request);
    ASSERT_TRUE(stats);
    // Each block ends a chain of such blocks, or is followed by another one.
    uint64_t resizes = 0, moves = 0, followed = 0, first_bytes = 0, last_bytes = 0;
    std::set<uint64_t> followed_numbers;
    const auto counts = [&](const Block& b) {
      return b.previous != kNoBlock && !b.is_mapping && matcher->Matches(b);
    };
    for (const Block& block : made.blocks()) {
      if (!counts(block)) continue;
      const Block& old = made.blocks()[block.previous];
      ++resizes;
      moves += old.address != block.address ? 1 : 0;
      if (counts(old)) {
        ++followed;
        followed_numbers.insert(old.number);
      } else {
        first_bytes += old.size;
      }
    }
    for (const Block& block : made.blocks()) {
      if (counts(block) && !followed_numbers.contains(block.number)) last_bytes += block.size;
    }
    EXPECT_GT(stats->chains.chains, 10u);
    EXPECT_EQ(stats->chains.resizes, resizes);
    EXPECT_EQ(stats->chains.resizes, stats->resizes);
    EXPECT_EQ(stats->chains.chains, resizes - followed);
    EXPECT_EQ(stats->chains.moves, moves);
    EXPECT_EQ(stats->chains.first_bytes, first_bytes);
    EXPECT_EQ(stats->chains.last_bytes, last_bytes);
  }
}

TEST(Stats, TellByWhatBuffersGrow) {
  MakeTrace made;
  const uint32_t stack = made.Stack({"grow", "main"});
  uint64_t doubling = made.Allocate(1, 0, 100, stack);
  for (uint64_t i = 1; i <= 5; ++i) {
    doubling = made.Reallocate(1 + i, doubling, uint64_t{100} << i, stack);
  }
  made.Free(50, doubling);
  const auto trace = made.Open();
  const auto stats = ReadStats(*trace, GroupsOf(*trace), {});
  ASSERT_TRUE(stats);
  EXPECT_EQ(stats->chains.chains, 1u);
  EXPECT_EQ(stats->chains.longest, 5u);
  EXPECT_EQ(stats->chains.longest_first_bytes, 100u);
  EXPECT_EQ(stats->chains.longest_last_bytes, 3200u);
  EXPECT_NEAR(stats->chains.growth_factor(), 2, 1e-9);
}

// Blocks that are live behind the event of that number.
std::set<uint64_t> LiveAfter(const MakeTrace& made, size_t events) {
  std::set<uint64_t> live;
  for (size_t i = 0; i < events; ++i) {
    const auto& event = made.events()[i];
    if (event.died != kNoBlock) live.erase(event.died);
    if (event.born != kNoBlock) live.insert(event.born);
  }
  return live;
}

void ExpectLiveSet(const PageUse& use, const MakeTrace& made, const std::set<uint64_t>& live) {
  uint64_t blocks = 0, bytes = 0, slack = 0;
  std::map<uint64_t, uint64_t> pages;
  for (const uint64_t number : live) {
    const Block& b = made.blocks()[number];
    if (b.is_mapping) continue;
    ++blocks;
    bytes += b.size;
    slack += b.slack;
    const uint64_t end = b.address + std::max<uint64_t>(b.size, 1);
    for (uint64_t page = b.address / 4096; page <= (end - 1) / 4096; ++page) {
      pages[page] += std::min(end, (page + 1) * 4096) - std::max(b.address, page * 4096);
    }
  }
  EXPECT_EQ(use.blocks, blocks);
  EXPECT_EQ(use.bytes, bytes);
  EXPECT_EQ(use.slack_bytes, slack);
  ASSERT_EQ(use.ranges.size(), 3u);
  EXPECT_EQ(use.ranges[0].unit, 4096u);
  EXPECT_EQ(use.ranges[0].ranges, pages.size());
  uint64_t pinned = 0;
  for (const auto& [page, in_it] : pages) pinned += in_it <= 1024 ? 4096 - in_it : 0;
  EXPECT_EQ(use.pinned_bytes, pinned);
}

TEST(Stats, PagesAreThoseOfTheMomentsAskedFor) {
  const MakeTrace made = Random(6);
  const auto trace = made.Open();
  StatsRequest request;
  const uint64_t middle = made.end_ns() / 3;
  request.moments = {"peak", "end", std::to_string(middle) + "ns", "0ns"};
  for (const bool only_pages : {false, true}) {
    request.wants_counts = request.wants_chains = !only_pages;
    const auto stats = ReadStats(*trace, GroupsOf(*trace), request);
    ASSERT_TRUE(stats) << stats.error().message;
    ASSERT_EQ(stats->pages.size(), 4u);
    size_t peak_event = 0, middle_event = 0;
    const StatsPeak peak = PeakOf(made, IsHeap);
    uint64_t live = 0;
    for (size_t i = 0; i < made.events().size() && peak_event == 0; ++i) {
      const auto& event = made.events()[i];
      const auto bytes = [&](uint64_t number) {
        return number == kNoBlock || !IsHeap(made.blocks()[number]) ? 0
                                                                    : made.blocks()[number].size;
      };
      live += bytes(event.born) - bytes(event.died);
      if (live == peak.bytes) peak_event = i + 1;
    }
    for (const auto& event : made.events()) middle_event += event.time_ns <= middle ? 1 : 0;
    ExpectLiveSet(stats->pages[0], made, LiveAfter(made, peak_event));
    ExpectLiveSet(stats->pages[1], made, LiveAfter(made, made.events().size()));
    ExpectLiveSet(stats->pages[2], made, LiveAfter(made, middle_event));
    EXPECT_EQ(stats->pages[0].bytes, peak.bytes);
  }
}

TEST(Stats, OfAnEmptyTraceAreNone) {
  MakeTrace made;
  const auto trace = made.Open();
  const auto stats = ReadStats(*trace, GroupsOf(*trace), {});
  ASSERT_TRUE(stats) << stats.error().message;
  EXPECT_EQ(stats->allocated.blocks, 0u);
  EXPECT_EQ(stats->peak.bytes, 0u);
  EXPECT_EQ(stats->pages.size(), 2u);
}

TEST(Stats, WorkWithoutAListOfSurvivors) {
  MakeTrace made = Random(8);
  made.finish = false;
  const auto trace = made.Open();
  const BlockGroups groups = GroupsOf(*trace);
  const auto stats = ReadStats(*trace, groups, {});
  ASSERT_TRUE(stats) << stats.error().message;
  ExpectSums(*stats, made, groups, {}, IsHeap);
}

}  // namespace
}  // namespace heapgauge::trace
