#include "core/fold/live_samples.h"

#include <algorithm>
#include <unordered_map>

#include "core/fold/allocation_frames.h"

namespace heapgauge {

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
