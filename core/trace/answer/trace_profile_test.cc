// Every figure against the plain list of blocks that the trace was made of.
#include "core/trace/answer/trace_profile.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <random>
#include <thread>

#include "core/trace/testing/all_values.h"
#include "core/trace/testing/make_trace.h"

namespace heapgauge::trace {
namespace {

using testing::AddRandomEvents;
using testing::kAllValues;
using testing::MakeTrace;
using testing::RandomTrace;

struct Figures {
  std::array<int64_t, 4> heap{};
  int64_t blocks = 0;
  double value = 0;

  bool any() const { return heap != std::array<int64_t, 4>{} || blocks != 0 || value != 0; }
};

// By the addresses of the stack.
using ByStack = std::map<std::string, Figures>;

std::string StackName(const Profile& profile, const Row& row) {
  if (row.leaf == kNone) return "?";
  std::string name;
  for (NodeId node = row.leaf; node != kNone; node = profile.nodes[node].parent) {
    const Location& location = profile.locations[profile.nodes[node].location];
    name += std::to_string(location.address) + ";";
  }
  return name;
}

ByStack Of(const Profile& profile) {
  ByStack stacks;
  for (RowId row = 0; row < profile.rows.size(); ++row) {
    Figures& f = stacks[StackName(profile, profile.rows[row])];
    for (size_t type = 0; type < kHeapTypes; ++type) f.heap[type] += profile.value(row, type);
    if (profile.sample_types.size() == kHeapTypes) continue;
    f.blocks += profile.value(row, kHeapTypes);
    f.value += static_cast<double>(profile.value(row, kHeapTypes + 1));
  }
  return stacks;
}

// The slow and plain way: one event after the other.
class Oracle {
 public:
  Oracle(const MakeTrace& made, const TraceFile::Stacks& stacks) : made_(made) {
    Profile profile = stacks.profile;
    for (const auto& stack : stacks.stacks) {
      Row row;
      row.leaf = stack.leaf;
      names_.push_back(StackName(profile, row));
    }
    for (size_t i = 0; i < made.events().size(); ++i) {
      const MakeTrace::Happening& event = made.events()[i];
      if (event.born != kNoBlock) birth_[event.born] = i;
      if (event.died != kNoBlock) death_[event.died] = i;
    }
  }

  // Whether a block counts at all.
  using Choose = std::function<bool(const Block&)>;

  ByStack Ask(const ProfileRequest& request, const Choose& chosen) const {
    // Events [begin, end) are the range.
    size_t begin = 0;
    size_t end = 0;
    const auto& events = made_.events();
    const auto is_by = [&](size_t i, const TraceMoment& moment) {
      return moment.is_among_events() ? i < moment.events : events[i].time_ns <= moment.time_ns;
    };
    while (begin < events.size() && is_by(begin, request.range.from)) ++begin;
    while (end < events.size() && is_by(end, request.range.to)) ++end;
    size_t peak = begin;
    uint64_t live = 0;
    uint64_t most = 0;
    for (size_t i = 0; i < end; ++i) {
      if (i == begin) most = live;
      live += SizeOf(events[i].born, request.filter.mappings) -
              SizeOf(events[i].died, request.filter.mappings);
      if (i < begin || live <= most) continue;
      most = live;
      peak = i + 1;
    }
    if (request.at_peak) end = peak;
    ByStack stacks;
    const uint32_t within = request.filter.temporary_within.value_or(0);
    for (const Block& block : made_.blocks()) {
      if (!chosen(block)) continue;
      const size_t born = birth_.at(block.number);
      const auto it = death_.find(block.number);
      const size_t died = it == death_.end() ? SIZE_MAX : it->second;
      Figures& f = stacks[names_[block.stack]];
      const auto size = static_cast<int64_t>(block.size);
      const bool born_in = born >= begin && born < end;
      const bool died_in = died >= begin && died < end;
      const bool live_at_end = born < end && died >= end;
      if (born_in) f.heap[kAllocObjects] += 1, f.heap[kAllocSpace] += size;
      if (live_at_end) f.heap[kInuseObjects] += 1, f.heap[kInuseSpace] += size;
      const auto add = [&](bool counts, int64_t sign = 1) {
        if (!counts) return;
        f.blocks += sign;
        f.value += static_cast<double>(sign * size);
      };
      switch (request.value) {
        case TraceValue::kLive:
        case TraceValue::kAllocated:
          break;
        case TraceValue::kPeak:
          add(born < peak && died >= peak);
          break;
        case TraceValue::kFreed:
          add(died_in);
          break;
        case TraceValue::kGrowth:
          add(born_in);
          add(died_in, -1);
          break;
        case TraceValue::kTemporary:
          add(died_in && block.distance != kForeign && block.distance <= within);
          break;
        case TraceValue::kLifetime:
          if (died_in) {
            f.blocks += 1;
            f.value += static_cast<double>(size) *
                       static_cast<double>(block.death_ns - block.birth_ns) / 1e9;
          }
          break;
        case TraceValue::kLeft:
          add(born_in && live_at_end);
          break;
        case TraceValue::kNeverFreed:
          add(born_in && died == SIZE_MAX);
          break;
      }
    }
    std::erase_if(stacks, [](const auto& entry) { return !entry.second.any(); });
    return stacks;
  }

 private:
  uint64_t SizeOf(uint64_t number, Mappings mappings) const {
    if (number == kNoBlock || !CountsIn(made_.blocks()[number], mappings)) return 0;
    return made_.blocks()[number].size;
  }

  const MakeTrace& made_;
  std::vector<std::string> names_;
  std::map<uint64_t, size_t> birth_;
  std::map<uint64_t, size_t> death_;
};

void ExpectSame(const ByStack& right, const ByStack& got, const std::string& about) {
  ByStack rest = got;
  for (const auto& [name, f] : right) {
    const Figures g = rest[name];
    EXPECT_EQ(f.heap, g.heap) << about << ": " << name;
    EXPECT_EQ(f.blocks, g.blocks) << about << ": " << name;
    if (f.value == g.value) {
      rest.erase(name);
      continue;
    }
    // Byte-seconds are rounded, and sums of segments have seven digits of them.
    EXPECT_TRUE(about.find("lifetime") != std::string::npos) << about << ": " << name;
    EXPECT_NEAR(f.value, g.value, 0.51 + f.value * 1e-7) << about << ": " << name;
    rest.erase(name);
  }
  for (const auto& [name, f] : rest) EXPECT_FALSE(f.any()) << about << ": " << name << " too many";
}

std::string About(const ProfileRequest& request) {
  return std::string(ValueName(request.value)) + " " + request.MomentText() + " " +
         request.filter.Text();
}

// The beginning of a range: 0 is the start.
TraceMoment After(uint64_t time_ns) {
  return time_ns == 0 ? TraceMoment::Start() : TraceMoment::At(time_ns);
}

bool IsHeap(const Block& block) { return !block.is_mapping; }
bool IsOfRealloc(const Block& block) {
  return block.previous != kNoBlock || block.resized_away ||
         block.function == static_cast<uint8_t>(wire::AllocationFunction::kRealloc);
}

struct Made {
  explicit Made(uint64_t seed, uint64_t pause = 3, uint32_t events = 3000) {
    RandomTrace how;
    how.seed = seed;
    how.events = events;
    how.live = 200;
    how.stacks = 12;
    how.greatest_pause_ns = pause;  // many events have the same time
    AddRandomEvents(how, &trace);
    file = trace.Open();
    stacks = *file->ReadStacks();
  }
  MakeTrace trace;
  std::shared_ptr<const TraceFile> file;
  std::shared_ptr<const TraceFile::Stacks> stacks;
};

TEST(TraceProfile, EveryValueOfEveryRangeIsThatOfTheBlocks) {
  for (const uint64_t seed : {1, 2, 3}) {
    const Made made(seed);
    const Oracle oracle(made.trace, *made.stacks);
    const uint64_t end = made.trace.end_ns();
    std::mt19937_64 random(seed);
    std::vector<std::pair<uint64_t, uint64_t>> ranges = {
        {0, kNever}, {0, end}, {0, end / 2}, {end / 2, kNever}, {end / 3, end / 3}, {end, kNever}};
    for (int i = 0; i < 25; ++i) {
      uint64_t a = random() % (end + 1);
      uint64_t b = random() % (end + 1);
      if (a > b) std::swap(a, b);
      ranges.emplace_back(a, b);
    }
    TraceAnswers answers(made.file);
    for (const auto& [from, to] : ranges) {
      for (const TraceValue value : kAllValues) {
        for (const bool at_peak : {false, true}) {
          ProfileRequest request;
          request.range.from = After(from);
          request.range.to = TraceMoment::At(to);
          request.value = value;
          request.at_peak = at_peak;
          const ByStack right = oracle.Ask(request, IsHeap);
          const auto once = ReadTraceProfile(*made.file, request);
          ASSERT_TRUE(once) << once.error().message;
          const Status checked = once->Check();
          ASSERT_TRUE(checked) << checked.error().message;
          ExpectSame(right, Of(*once), About(request));
          const auto kept = answers.Ask(request);
          ASSERT_TRUE(kept) << kept.error().message;
          ExpectSame(right, Of(*kept), "kept: " + About(request));
        }
        if (HasFailure()) return;
      }
    }
  }
}

TEST(TraceProfile, FiltersOnBlocksGiveTheSameFiguresAsTheList) {
  const Made made(7);
  const Oracle oracle(made.trace, *made.stacks);
  const uint64_t end = made.trace.end_ns();
  struct Case {
    std::function<void(BlockFilter*)> set;
    Oracle::Choose chosen;
  };
  const uint64_t some = end / 5;
  const Case cases[] = {
      {[](BlockFilter* f) { f->least_size = 1000; },
       [](const Block& b) { return IsHeap(b) && b.size >= 1000; }},
      {[](BlockFilter* f) { f->greatest_size = 99; },
       [](const Block& b) { return IsHeap(b) && b.size <= 99; }},
      {[=](BlockFilter* f) { f->least_lifetime_ns = some; },
       [=](const Block& b) { return IsHeap(b) && b.lifetime_ns(end) >= some; }},
      {[](BlockFilter* f) { f->greatest_lifetime_ns = 20; },
       [=](const Block& b) { return IsHeap(b) && b.lifetime_ns(end) <= 20; }},
      {[](BlockFilter* f) { f->freed = true; },
       [](const Block& b) { return IsHeap(b) && !b.is_live(); }},
      {[](BlockFilter* f) { f->freed = false; },
       [](const Block& b) { return IsHeap(b) && b.is_live(); }},
      {[](BlockFilter* f) { f->by_realloc = true; },
       [](const Block& b) { return IsHeap(b) && IsOfRealloc(b); }},
      {[](BlockFilter* f) { f->by_realloc = false; },
       [](const Block& b) { return IsHeap(b) && !IsOfRealloc(b); }},
      {[](BlockFilter* f) { f->threads = {1001}; },
       [](const Block& b) { return IsHeap(b) && b.thread == 1; }},
      {[](BlockFilter* f) { f->mappings = true; }, [](const Block& b) { return b.is_mapping; }},
      {[](BlockFilter* f) { f->mappings.reset(); }, [](const Block&) { return true; }},
      {[](BlockFilter* f) { f->mappings.reset(), f->least_size = 4096; },
       [](const Block& b) { return b.size >= 4096; }},
      {[=](BlockFilter* f) {
         f->born = {TraceMoment::At(some), TraceMoment::At(3 * some)};
       },
       [=](const Block& b) { return IsHeap(b) && b.birth_ns > some && b.birth_ns <= 3 * some; }},
      {[=](BlockFilter* f) {
         f->live_at = {TraceMoment::At(some), TraceMoment::At(2 * some)};
       },
       [=](const Block& b) { return IsHeap(b) && b.birth_ns <= some && b.death_ns > 2 * some; }},
  };
  const std::pair<uint64_t, uint64_t> ranges[] = {
      {0, kNever}, {end / 4, end / 2}, {0, end / 3}, {end / 2, kNever}, {end / 4, end / 4 + 5}};
  size_t number = 0;
  for (const Case& c : cases) {
    for (const auto& [from, to] : ranges) {
      for (const TraceValue value : kAllValues) {
        ProfileRequest request;
        request.range.from = After(from);
        request.range.to = TraceMoment::At(to);
        request.value = value;
        request.at_peak = number++ % 3 == 0;
        c.set(&request.filter);
        const auto profile = ReadTraceProfile(*made.file, request);
        ASSERT_TRUE(profile) << profile.error().message;
        ExpectSame(oracle.Ask(request, c.chosen), Of(*profile), About(request));
      }
      if (HasFailure()) return;
    }
  }
}

// What a value of a range is in all.
std::pair<int64_t, int64_t> BlocksAndBytes(const Made& made, const TraceRange& range,
                                           TraceValue value, const BlockFilter& filter) {
  ProfileRequest request;
  request.range = range;
  request.value = value;
  request.filter = filter;
  const auto profile = ReadTraceProfile(*made.file, request);
  EXPECT_TRUE(profile);
  if (!profile) return {};
  size_t type = kHeapTypes;
  if (value == TraceValue::kLive) type = kInuseObjects;
  if (value == TraceValue::kAllocated) type = kAllocObjects;
  std::pair<int64_t, int64_t> sum;
  for (RowId row = 0; row < profile->rows.size(); ++row) {
    sum.first += profile->value(row, type);
    sum.second += profile->value(row, type + 1);
  }
  return sum;
}

// By time, or in the middle of what has the same time.
TraceMoment RandomMoment(const Made& made, std::mt19937_64* random) {
  const auto& events = made.trace.events();
  const uint64_t count = (*random)() % (events.size() + 1);
  const uint64_t time_ns = count == 0 ? 0 : events[count - 1].time_ns;
  return (*random)() % 2 == 0 ? TraceMoment::At(time_ns) : TraceMoment{time_ns, count};
}

TEST(TraceProfile, RangesThatAdjoinAddUpAndGrowthIsTheDifferenceOfTheirEnds) {
  using Pair = std::pair<int64_t, int64_t>;
  const auto plus = [](Pair a, Pair b) { return Pair(a.first + b.first, a.second + b.second); };
  for (const uint64_t seed : {11, 12}) {
    const Made made(seed);
    std::mt19937_64 random(seed);
    for (int round = 0; round < 60; ++round) {
      std::array<TraceMoment, 3> at;
      for (TraceMoment& moment : at) moment = RandomMoment(made, &random);
      if (round == 0) at = {TraceMoment::Start(), at[1], TraceMoment::End()};
      std::sort(at.begin(), at.end());
      BlockFilter filter;
      if (round % 3 == 1) filter.least_size = 200;  // block by block
      if (round % 3 == 2) filter.mappings.reset();
      for (const TraceValue value :
           {TraceValue::kAllocated, TraceValue::kFreed, TraceValue::kGrowth}) {
        const auto of = [&](size_t from, size_t to) {
          return BlocksAndBytes(made, {at[from], at[to]}, value, filter);
        };
        EXPECT_EQ(plus(of(0, 1), of(1, 2)), of(0, 2)) << ValueName(value) << " " << round;
      }
      const auto live = [&](size_t i) {
        return BlocksAndBytes(made, {TraceMoment::Start(), at[i]}, TraceValue::kLive, filter);
      };
      const Pair growth = BlocksAndBytes(made, {at[0], at[2]}, TraceValue::kGrowth, filter);
      EXPECT_EQ(plus(live(0), growth), live(2)) << round;
      if (HasFailure()) return;
    }
  }
}

TEST(TraceProfile, BlocksThatWereLiveAtAMomentAreThoseOfTheMoment) {
  const Made made(13, 1);
  std::mt19937_64 random(13);
  std::vector<TraceMoment> moments = {TraceMoment::Start(), TraceMoment::End()};
  for (int i = 0; i < 40; ++i) moments.push_back(RandomMoment(made, &random));
  for (const TraceMoment& at : moments) {
    BlockFilter filter;
    const auto live = BlocksAndBytes(made, {TraceMoment::Start(), at}, TraceValue::kLive, filter);
    const auto allocated = [&] { return BlocksAndBytes(made, {}, TraceValue::kAllocated, filter); };
    filter.live_at = {at};
    EXPECT_EQ(allocated(), live) << at.time_ns << " " << at.events;
    filter.live_at.clear();
    filter.born = {TraceMoment::Start(), at};
    const auto before = allocated();
    filter.born = {at, TraceMoment::End()};
    const auto behind = allocated();
    filter.born = {};
    EXPECT_EQ(std::pair(before.first + behind.first, before.second + behind.second), allocated())
        << at.time_ns << " " << at.events;
  }
}

TEST(TraceProfile, LifetimesAreBytesTimesSeconds) {
  const Made made(5, 700'000'000);
  const Oracle oracle(made.trace, *made.stacks);
  const uint64_t end = made.trace.end_ns();
  TraceAnswers answers(made.file);
  for (const auto& [from, to] : std::vector<std::pair<uint64_t, uint64_t>>{
           {0, kNever}, {end / 4, end / 2}, {end / 2, kNever}}) {
    for (const uint64_t least : {0, 500}) {
      ProfileRequest request;
      request.range.from = After(from);
      request.range.to = TraceMoment::At(to);
      request.value = TraceValue::kLifetime;
      request.filter.least_size = least;
      const auto profile = answers.Ask(request);
      ASSERT_TRUE(profile);
      EXPECT_GT(profile->Total(kHeapTypes + 1).value, 1e6);
      EXPECT_EQ(profile->sample_types.back().unit, "byte-seconds");
      ExpectSame(oracle.Ask(request, [=](const Block& b) { return IsHeap(b) && b.size >= least; }),
                 Of(*profile), About(request));
    }
  }
}

TEST(TraceProfile, LifetimesOfAShortRunAreNotRounded) {
  MakeTrace made;
  const uint32_t stack = made.Stack({"leaf", "main"});
  for (uint64_t at = 1000; at <= 7000; at += 2000) {
    made.Free(at + 1000, made.Allocate(at, 0, 16, stack));
  }
  ProfileRequest request;
  request.value = TraceValue::kLifetime;
  const auto profile = ReadTraceProfile(*made.Open(), request);
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_NEAR(profile->Total(kHeapTypes + 1).value, 64e-6, 1e-12);
  EXPECT_EQ(profile->Total(kAllocSpace).value, 64);
}

TEST(TraceProfile, TemporaryWithinSomeAllocationsIsAValueOrAFilter) {
  const Made made(9);
  const Oracle oracle(made.trace, *made.stacks);
  const uint64_t end = made.trace.end_ns();
  for (const uint32_t within : {0u, 1u, 5u, 40u}) {
    ProfileRequest request;
    request.range.from = After(end / 4);
    request.range.to = TraceMoment::At(end / 2);
    request.filter.temporary_within = within;
    request.value = TraceValue::kTemporary;
    auto profile = ReadTraceProfile(*made.file, request);
    ASSERT_TRUE(profile);
    ExpectSame(oracle.Ask(request, IsHeap), Of(*profile), About(request));
    request.filter.least_size = 64;
    profile = ReadTraceProfile(*made.file, request);
    ASSERT_TRUE(profile);
    ExpectSame(oracle.Ask(request, [](const Block& b) { return IsHeap(b) && b.size >= 64; }),
               Of(*profile), About(request));
    request.value = TraceValue::kAllocated;
    request.filter.least_size = 0;
    profile = ReadTraceProfile(*made.file, request);
    ASSERT_TRUE(profile);
    ExpectSame(oracle.Ask(request,
                          [=](const Block& b) {
                            return IsHeap(b) && b.distance != kForeign && b.distance <= within;
                          }),
               Of(*profile), About(request));
  }
}

TEST(TraceProfile, AnIndexOfAnySizeGivesTheSameFigures) {
  const Made made(4, 50, 6000);
  const size_t each = made.file->stack_count() * sizeof(StackTotal);
  ProfileRequest request;
  request.range.from = After(made.trace.end_ns() / 3);
  request.range.to = TraceMoment::At(made.trace.end_ns() * 2 / 3);
  request.value = TraceValue::kLifetime;
  const auto right = ReadTraceProfile(*made.file, request);
  ASSERT_TRUE(right);
  for (const size_t budget : {size_t{0}, each, 3 * each, 1000 * each}) {
    TraceAnswers answers(made.file, {}, budget);
    const auto got = answers.Ask(request);
    ASSERT_TRUE(got);
    ExpectSame(Of(*right), Of(*got), std::to_string(budget));
  }
}

TEST(TraceProfile, SeveralThreadsMayAskAtOnce) {
  const Made made(6, 20, 4000);
  TraceAnswers answers(made.file);
  std::vector<ByStack> got(4);
  std::vector<ByStack> right(4);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < got.size(); ++i) {
    ProfileRequest request;
    request.value = kAllValues[i + 3];
    request.range.from = After(made.trace.end_ns() * i / 8);
    request.range.to = TraceMoment::At(made.trace.end_ns() * (i + 3) / 8);
    if (const auto profile = ReadTraceProfile(*made.file, request)) right[i] = Of(*profile);
    threads.emplace_back([&answers, &got, i, request] {
      for (int round = 0; round < 5; ++round) {
        if (const auto profile = answers.Ask(request)) got[i] = Of(*profile);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_FALSE(right[i].empty());
    ExpectSame(right[i], got[i], "lifetime " + std::to_string(i));
  }
}

TEST(TraceProfile, ATraceWithoutSurvivorsOrEndIsAnsweredToo) {
  RandomTrace how;
  how.events = 2000;
  how.seed = 11;
  for (const bool finish : {true, false}) {
    MakeTrace made;
    AddRandomEvents(how, &made);
    made.write_survivors = false;
    made.finish = finish;
    const auto file = made.Open();
    const auto stacks = file->ReadStacks();
    ASSERT_TRUE(stacks);
    const Oracle oracle(made, **stacks);
    for (const TraceValue value : kAllValues) {
      ProfileRequest request;
      request.value = value;
      request.range.from = After(made.end_ns() / 4);
      request.range.to = TraceMoment::At(made.end_ns() / 2);
      request.filter.least_size = 100;
      const auto profile = ReadTraceProfile(*file, request);
      ASSERT_TRUE(profile) << profile.error().message;
      ExpectSame(oracle.Ask(request, [](const Block& b) { return IsHeap(b) && b.size >= 100; }),
                 Of(*profile), About(request));
      EXPECT_EQ(profile->notes.empty(), finish);
    }
  }
}

}  // namespace
}  // namespace heapgauge::trace
