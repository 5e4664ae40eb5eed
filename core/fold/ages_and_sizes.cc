#include "core/fold/ages_and_sizes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>
#include <vector>

#include "core/fold/frames.h"

namespace heapgauge {
namespace {

constexpr uint64_t kUs = 1'000;
constexpr uint64_t kMs = 1'000'000;
constexpr uint64_t kS = 1'000'000'000;

constexpr LifetimeStep kSteps[] = {
    {kUs, "<1us", "1us"},
    {10 * kUs, "<10us", "10us"},
    {100 * kUs, "<100us", ".1ms"},
    {kMs, "<1ms", "1ms"},
    {10 * kMs, "<10ms", "10ms"},
    {100 * kMs, "<100ms", ".1s"},
    {kS, "<1s", "1s"},
    {10 * kS, "<10s", "10s"},
    {60 * kS, "<1min", "1min"},
    {600 * kS, "<10min", "10m"},
    {3600 * kS, "<1h", "1h"},
    {UINT64_MAX, ">1h", ">1h"},
    {UINT64_MAX, "never freed", "never"},
};
static_assert(std::size(kSteps) == kLifetimeSteps);

struct Scale {
  std::array<uint64_t, kFineSteps> ends{};
  std::array<uint8_t, kFineSteps> step{};
  std::array<uint8_t, 65> first{};  // by bit width: the first fine step that may hold it

  Scale() {
    constexpr int kPerDecade = 16;
    std::vector<uint64_t> edges = {60 * kS, 600 * kS, 3600 * kS};
    uint64_t decade = 10;
    for (int i = 0; i < 12; ++i, decade *= 10) {  // 10 ns to 10^13 ns, nearly three hours
      for (int j = 0; j < kPerDecade; ++j) {
        edges.push_back(static_cast<uint64_t>(
            std::llround(static_cast<double>(decade) * std::pow(10.0, j / double{kPerDecade}))));
      }
    }
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    edges.resize(kFineSteps - 1, edges.back());
    std::copy(edges.begin(), edges.end(), ends.begin());
    ends.back() = UINT64_MAX;
    for (size_t i = 0; i < kFineSteps; ++i) {
      const uint64_t begin = i == 0 ? 0 : ends[i - 1];
      size_t s = 0;
      while (s < kLongestStep && begin >= kSteps[s].end_ns) ++s;
      step[i] = static_cast<uint8_t>(s);
    }
    for (size_t width = 0; width <= 64; ++width) {
      const uint64_t least = width == 0 ? 0 : uint64_t{1} << (width - 1);
      size_t i = 0;
      while (i + 1 < kFineSteps && ends[i] <= least) ++i;
      first[width] = static_cast<uint8_t>(i);
    }
  }
};

const Scale& TheScale() {
  static const Scale scale;
  return scale;
}

}  // namespace

std::span<const LifetimeStep> LifetimeSteps() { return kSteps; }

size_t FineStepOf(uint64_t lifetime_ns) {
  const Scale& scale = TheScale();
  size_t i = scale.first[static_cast<size_t>(std::bit_width(lifetime_ns))];
  while (i + 1 < kFineSteps && scale.ends[i] <= lifetime_ns) ++i;
  return i;
}

size_t StepOfFine(size_t fine) { return TheScale().step[fine]; }
uint64_t FineStepBegin(size_t fine) { return fine == 0 ? 0 : TheScale().ends[fine - 1]; }
uint64_t FineStepEnd(size_t fine) { return TheScale().ends[fine]; }

void SampledCount::Add(const SampledCount& other) {
  bytes.Add(other.bytes);
  objects.Add(other.objects);
  samples += other.samples;
}

uint64_t LiveSamples::Row::MeanAge() const {
  return all.bytes.value > 0 ? static_cast<uint64_t>(age_sum / all.bytes.value) : 0;
}

SampledCount LiveSamples::SizeClass(size_t size_class) const {
  SampledCount sum;
  for (const SampledCount& cell : cells[size_class]) sum.Add(cell);
  return sum;
}

SampledCount LiveSamples::Age(size_t step) const {
  SampledCount sum;
  for (const auto& row : cells) sum.Add(row[step]);
  return sum;
}

Result<LiveSamples> CountLiveSamples(const Profile& profile, const RowFilter& filter,
                                     Granularity granularity) {
  if (profile.blocks.empty() && profile.recording.interval == 0) {
    return Fail(ErrorCode::kUnsupported,
                "this profile has sums only, neither ages nor lifetimes of blocks; heapgauge run "
                "--trace records them");
  }
  HG_ASSIGN(const std::vector<bool> selected, SelectRows(profile, filter, granularity));
  LiveSamples result;
  result.entities = Entities(profile, granularity);
  const std::vector<uint32_t> allocation_frames = CountAllocationFrames(profile);
  std::vector<FramePlace> places(profile.rows.size());
  for (RowId row = 0; row < profile.rows.size(); ++row) {
    if (selected[row]) places[row] = FlatFrame(profile, row, allocation_frames);
  }
  std::unordered_map<EntityId, LiveSamples::Row> rows;
  std::unordered_map<uint32_t, SampledCount> threads;
  const uint64_t now = profile.recording.duration_ns;
  for (const SampledBlock& block : profile.blocks) {
    if (!selected[block.row]) continue;
    const SampleWeight weight = WeightOf(block.size, block.interval);
    const SampledCount one{BytesEstimate(block.size, weight), ObjectsEstimate(weight), 1};
    const uint64_t age = now > block.birth_ns ? now - block.birth_ns : 0;
    const size_t step = LifetimeStepOf(age);
    result.total.Add(one);
    result.cells[SizeClassOf(block.size)][step].Add(one);
    threads[block.thread].Add(one);
    const FramePlace place = places[block.row];
    EntityId entity = kNone;
    uint32_t frame = kNone;
    if (place.node != kNone) {
      const LocationId at = profile.nodes[place.node].location;
      entity = result.entities.Of(at, place.k);
      frame = profile.locations[at].first_frame + place.k;
    }
    LiveSamples::Row& row = rows[entity];
    row.entity = entity;
    if (row.frame == kNone) row.frame = frame;
    row.all.Add(one);
    row.by_age[step].Add(one);
    row.age_sum += one.bytes.value * static_cast<double>(age);
    row.oldest_ns = std::max(row.oldest_ns, age);
  }
  for (auto& [entity, row] : rows) result.rows.push_back(row);
  std::sort(result.rows.begin(), result.rows.end(),
            [&](const LiveSamples::Row& a, const LiveSamples::Row& b) {
              if (a.all.bytes.value != b.all.bytes.value) {
                return a.all.bytes.value > b.all.bytes.value;
              }
              return IsNamedBefore(profile, result.entities, a.entity, b.entity);
            });
  for (const auto& [id, all] : threads) result.threads.push_back({id, all});
  std::sort(result.threads.begin(), result.threads.end(),
            [](const LiveSamples::Thread& a, const LiveSamples::Thread& b) {
              if (a.all.bytes.value != b.all.bytes.value) {
                return a.all.bytes.value > b.all.bytes.value;
              }
              return a.id < b.id;
            });
  return result;
}

}  // namespace heapgauge
