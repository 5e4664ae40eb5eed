// What DhatWriter writes: a profile, or a trace.

#include <algorithm>

#include "core/formats/dhat/dhat_types.h"
#include "core/formats/dhat/dhat_writer.h"

namespace heapgauge {
namespace {

constexpr uint64_t kUnitNs = 1000;  // of times from a trace: a microsecond

DhatFacts FactsOf(const RecordingFacts& recording) {
  DhatFacts facts;
  for (const std::string& word : recording.command_line) {
    facts.command += (facts.command.empty() ? "" : " ") + word;
  }
  if (facts.command.empty()) facts.command = recording.name();
  facts.pid = recording.pid;
  facts.time_unit = "µs";
  facts.million_unit = "s";
  facts.short_lifetime = 10;
  facts.end_time = std::max<uint64_t>(1, recording.duration_ns / kUnitNs);
  return facts;
}

// The facts of a profile that came from DHAT, as its types tell them; false for any other.
bool IsFromDhat(const Profile& profile, DhatFacts* facts) {
  const auto has = [&](const char* type) {
    return profile.FindType(type) < profile.sample_types.size();
  };
  if (has("copied_space")) {
    facts->mode = "copy";
    facts->verb = "Copied";
    return true;
  }
  if (has("event_units")) {
    facts->mode = "ad-hoc";
    facts->verb = "Occurred";
    facts->byte_unit = "unit";
    facts->bytes_unit = "units";
    facts->blocks_unit = "events";
    return true;
  }
  if (!has("lifetimes") || !has("own_peak_space")) return false;
  facts->has_lifetimes = true;
  facts->has_accesses = has("read_space");
  facts->time_unit = profile.sample_types[profile.FindType("lifetimes")].unit;
  if (facts->time_unit == "instrs") {
    facts->million_unit = "Minstr";
    facts->short_lifetime = 500;
  }
  return true;
}

// The type that counts the blocks of a type in bytes; out of range: none.
size_t ObjectsOf(const Profile& profile, size_t space) {
  std::string name = profile.sample_types[space].name;
  const size_t at = name.rfind("space");
  if (at == std::string::npos) return kNone;
  return profile.FindType(name.replace(at, 5, "objects"));
}

// Of types that readers of any format make, the one that is closest to DHAT's total.
size_t TotalType(const Profile& profile, size_t asked) {
  if (asked < profile.sample_types.size()) return asked;
  const size_t allocated = profile.FindType("alloc_space");
  if (allocated < profile.sample_types.size() && profile.Total(allocated).value > 0) {
    return allocated;
  }
  return profile.DefaultType();
}

// What happens to one stack of a trace while it is read.
struct Tally {
  DhatPoint point;
  uint64_t bytes = 0;  // live
  uint64_t blocks = 0;
  uint64_t peak = 0;     // number of the peak that `point` knows about
  uint64_t rest_ns = 0;  // of lifetimes, below a unit
  bool seen = false;

  void Live(uint64_t ns) {
    rest_ns += ns % kUnitNs;
    point.lifetimes += ns / kUnitNs + rest_ns / kUnitNs;
    rest_ns %= kUnitNs;
  }
};

class TraceFold {
 public:
  explicit TraceFold(size_t stacks) : tallies_(std::max<size_t>(stacks, 1)) {}

  void Apply(const trace::Segment& segment, const trace::Event& event) {
    if (event.died != trace::kNoIndex) Free(segment.blocks[event.died]);
    if (event.born != trace::kNoIndex) Allocate(segment.blocks[event.born]);
    if (live_ <= peak_bytes_) return;
    peak_bytes_ = live_;
    peak_ns_ = event.time_ns;
    ++peak_;
  }

  // A block that is never freed.
  void Survive(const trace::Block& block, uint64_t end_ns) {
    if (!block.is_mapping) Of(block).Live(block.lifetime_ns(end_ns));
  }

  std::vector<DhatStack> Finish(const trace::TraceFile::Stacks& stacks) {
    std::vector<DhatStack> points;
    for (uint32_t i = 0; i < tallies_.size(); ++i) {
      Tally& tally = tallies_[i];
      if (!tally.seen) continue;
      Settle(&tally);
      tally.point.end_bytes = tally.bytes;
      tally.point.end_blocks = tally.blocks;
      points.emplace_back(i < stacks.stacks.size() ? stacks.stacks[i].leaf : kNone, tally.point);
    }
    return points;
  }
  uint64_t peak_ns() const { return peak_ns_; }

 private:
  Tally& Of(const trace::Block& block) {
    return tallies_[block.stack < tallies_.size() ? block.stack : 0];
  }

  // What a stack held at the latest peak is noted before it changes.
  void Settle(Tally* tally) const {
    if (tally->peak == peak_) return;
    tally->peak = peak_;
    tally->point.peak_bytes = tally->bytes;
    tally->point.peak_blocks = tally->blocks;
  }

  void Allocate(const trace::Block& block) {
    if (block.is_mapping) return;
    Tally& tally = Of(block);
    Settle(&tally);
    tally.seen = true;
    tally.point.bytes += block.size;
    ++tally.point.blocks;
    tally.bytes += block.size;
    ++tally.blocks;
    live_ += block.size;
    if (tally.bytes > tally.point.max_bytes || tally.point.max_blocks == 0) {
      tally.point.max_bytes = tally.bytes;
      tally.point.max_blocks = tally.blocks;
    }
  }

  void Free(const trace::Block& block) {
    if (block.is_mapping) return;
    Tally& tally = Of(block);
    if (tally.blocks == 0 || tally.bytes < block.size) return;  // damaged
    Settle(&tally);
    tally.bytes -= block.size;
    --tally.blocks;
    live_ -= block.size;
    tally.Live(block.lifetime_ns(block.death_ns));
  }

  std::vector<Tally> tallies_;  // by stack
  uint64_t live_ = 0;
  uint64_t peak_bytes_ = 0;
  uint64_t peak_ns_ = 0;
  uint64_t peak_ = 0;  // how often there was a new one
};

}  // namespace

Status WriteDhat(const Profile& profile, const DhatProfileOptions& options, TextSink* out) {
  if (profile.sample_types.empty()) {
    return Fail(ErrorCode::kUnsupported, "the profile has no sample types");
  }
  DhatFacts facts = FactsOf(profile.recording);
  std::vector<std::pair<size_t, uint64_t DhatPoint::*>> figures;
  if (options.type >= profile.sample_types.size() && IsFromDhat(profile, &facts)) {
    for (const DhatType& type : DhatTypes(facts)) {
      const size_t at = profile.FindType(type.type.name);
      if (at < profile.sample_types.size()) figures.emplace_back(at, type.figure);
    }
  } else {
    const size_t space = TotalType(profile, options.type);
    figures.emplace_back(space, &DhatPoint::bytes);
    const size_t objects = ObjectsOf(profile, space);
    if (objects < profile.sample_types.size()) figures.emplace_back(objects, &DhatPoint::blocks);
    if (profile.sample_types[space].name != "alloc_space") {
      facts.mode = "heap, " + profile.sample_types[space].name;
    }
  }
  std::vector<DhatStack> points;
  for (RowId row = 0; row < profile.rows.size(); ++row) {
    if (!options.selected.empty() && !options.selected[row]) continue;
    DhatPoint point;
    for (const auto& [type, figure] : figures) {
      point.*figure = static_cast<uint64_t>(std::max<int64_t>(0, profile.value(row, type)));
    }
    if (point.bytes == 0 && point.blocks == 0) continue;
    point.blocks = std::max<uint64_t>(point.blocks, 1);  // the viewer divides by it
    points.emplace_back(profile.rows[row].leaf, point);
  }
  return WriteDhat(profile, facts, points, out);
}

Status WriteDhat(const trace::TraceFile& trace, const trace::TraceFile::Stacks& stacks,
                 ProgressSink* progress, TextSink* out) {
  TraceFold fold(stacks.stacks.size());
  trace::Segment segment;
  for (size_t i = 0; i < trace.segments().size(); ++i) {
    if (progress != nullptr) progress->Report("adding up", i, trace.segments().size(), "segments");
    HG_TRY(trace.ReadSegment(i, trace::kOldBlocks | trace::kNewBlocks | trace::kEvents, &segment));
    for (const trace::Event& event : segment.events) fold.Apply(segment, event);
  }
  const uint64_t end_ns = trace.end_ns();
  HG_TRY(trace.ForEachSurvivor([&](const trace::Block& block) { fold.Survive(block, end_ns); }));
  DhatFacts facts = FactsOf(trace.facts().recording);
  facts.has_lifetimes = true;
  facts.end_time = std::max<uint64_t>(1, end_ns / kUnitNs);
  facts.peak_time = fold.peak_ns() / kUnitNs;
  return WriteDhat(stacks.profile, facts, fold.Finish(stacks), out);
}

}  // namespace heapgauge
