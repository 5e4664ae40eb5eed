#include "core/formats/dhat/dhat_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "core/base/json.h"
#include "core/base/text.h"
#include "core/formats/dhat/dhat_file.h"

namespace heapgauge {
namespace {

class Writer {
 public:
  Writer(const Profile& profile, const DhatFacts& facts, TextSink* out)
      : profile_(profile), facts_(facts), out_(out) {}

  Status Write(const std::vector<DhatStack>& points) {
    WriteFacts();
    text_ += ",\"pps\":\n [";
    const char* separator = "";
    for (const auto& [leaf, point] : points) {
      text_ += separator;
      separator = "\n ,";
      WritePoint(leaf, point);
      if (text_.size() > 1 << 18) HG_TRY(Flush());
    }
    text_ += "\n ]\n,\"ftbl\":\n [\"[root]\"";
    for (const std::string* frame : table_) {
      text_ += "\n ," + Json(*frame).Line();
      if (text_.size() > 1 << 18) HG_TRY(Flush());
    }
    text_ += "\n ]\n}\n";
    return Flush();
  }

 private:
  Status Flush() {
    const Status written = out_->Write(text_);
    text_.clear();
    return written;
  }

  void Member(const char* name, const Json& value) {
    text_ += fmt::format(",\"{}\":{}\n", name, value.Line());
  }

  void WriteFacts() {
    text_ = "{\"dhatFileVersion\":2\n";
    Member("mode", facts_.mode);
    Member("verb", facts_.verb);
    Member("bklt", facts_.has_lifetimes);
    Member("bkacc", facts_.has_accesses);
    if (!facts_.byte_unit.empty()) Member("bu", facts_.byte_unit);
    if (!facts_.bytes_unit.empty()) Member("bsu", facts_.bytes_unit);
    if (!facts_.blocks_unit.empty()) Member("bksu", facts_.blocks_unit);
    Member("tu", facts_.time_unit);
    Member("Mtu", facts_.million_unit);
    if (facts_.has_lifetimes) Member("tuth", facts_.short_lifetime);
    Member("cmd", facts_.command);
    Member("pid", facts_.pid);
    Member("te", facts_.end_time);
    if (facts_.has_lifetimes) Member("tg", facts_.peak_time);
  }

  void WritePoint(NodeId leaf, const DhatPoint& p) {
    text_ += fmt::format("{{\"tb\":{},\"tbk\":{}", p.bytes, p.blocks);
    if (facts_.has_lifetimes) {
      text_ += fmt::format(
          "\n  ,\"tl\":{}\n  ,\"mb\":{},\"mbk\":{}\n  ,\"gb\":{},\"gbk\":{}\n  "
          ",\"eb\":{},\"ebk\":{}",
          p.lifetimes, p.max_bytes, p.max_blocks, p.peak_bytes, p.peak_blocks, p.end_bytes,
          p.end_blocks);
    }
    if (facts_.has_accesses) {
      text_ += fmt::format("\n  ,\"rb\":{},\"wb\":{}", p.read_bytes, p.written_bytes);
    }
    text_ += "\n  ,\"fs\":[";
    const char* separator = "";
    for (NodeId node = leaf; node != kNone; node = profile_.nodes[node].parent) {
      for (const uint32_t frame : FramesOf(profile_.nodes[node].location)) {
        text_ += fmt::format("{}{}", separator, frame);
        separator = ",";
      }
    }
    // The viewer takes a point without any frame for a mistake.
    if (leaf == kNone) text_ += std::to_string(FrameNumber("0x0: ???"));
    text_ += "]\n  }";
  }

  const std::vector<uint32_t>& FramesOf(LocationId id) {
    const auto [it, is_new] = locations_.try_emplace(id);
    if (!is_new) return it->second;
    const Location& location = profile_.locations[id];
    const std::string module =
        location.module == kNone ? "" : profile_.modules[location.module].path;
    for (uint32_t i = 0; i < location.frame_count; ++i) {
      const Frame& frame = profile_.frames[location.first_frame + i];
      const Function& function = profile_.functions[frame.function];
      it->second.push_back(
          FrameNumber(Text(location.lookup_address(), function.placeholder ? "" : function.name,
                           function.file, frame.line, frame.column, module)));
    }
    if (location.frame_count == 0) {
      it->second.push_back(FrameNumber(Text(location.lookup_address(), "", "", 0, 0, module)));
    }
    return it->second;
  }

  static std::string Text(uint64_t address, const std::string& function, const std::string& file,
                          uint32_t line, uint32_t column, const std::string& module) {
    std::string text = fmt::format("0x{:X}: {}", address, function.empty() ? "???" : function);
    if (!file.empty()) {
      text += fmt::format(" ({}:{}", file, line);
      if (column != 0) text += fmt::format(":{}", column);
      text += ')';
    } else if (!module.empty()) {
      text += fmt::format(" (in {})", module);
    }
    return text;
  }

  uint32_t FrameNumber(std::string text) {
    const auto [it, is_new] =
        frames_.try_emplace(std::move(text), static_cast<uint32_t>(table_.size() + 1));
    if (is_new) table_.push_back(&it->first);
    return it->second;
  }

  const Profile& profile_;
  const DhatFacts& facts_;
  TextSink* out_;
  std::string text_;
  std::unordered_map<std::string, uint32_t> frames_;
  std::vector<const std::string*> table_;  // in order of their numbers, from 1
  std::unordered_map<LocationId, std::vector<uint32_t>> locations_;
};

}  // namespace

Status WriteDhat(const Profile& profile, const DhatFacts& facts,
                 const std::vector<DhatStack>& points, TextSink* out) {
  return Writer(profile, facts, out).Write(points);
}

// What DhatWriter writes: a profile, or a trace.

namespace {

constexpr uint64_t kUnitNs = 1000;  // of times from a trace: a microsecond

DhatFacts FactsOf(const RecordingFacts& recording) {
  DhatFacts facts;
  facts.command = Join(recording.command_line);
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
