#include "core/formats/heaptrack/heaptrack_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/text.h"
#include "core/formats/heaptrack/heaptrack_names.h"
#include "core/formats/heaptrack/heaptrack_parser.h"
#include "core/formats/text/scan.h"
#include "core/model/profile.h"
#include "core/model/stacks.h"

namespace heapgauge {

struct BlocksAndBytes {
  int64_t blocks = 0;
  int64_t bytes = 0;

  // False if the sums would not fit.
  bool Add(uint64_t size) {
    ++blocks;
    return !__builtin_add_overflow(bytes, static_cast<int64_t>(size), &bytes);
  }
  void Remove(uint64_t size) {
    --blocks;
    bytes -= static_cast<int64_t>(size);
  }
};

// Adds up what happened to each stack while a heaptrack file is read: allocated, live, temporary,
// and what was live when the heap was largest.
//
// heaptrack reads its files twice to know the last of these. Once is enough: a stack notes what it
// held at the latest peak before it changes, and at the end if it never did. 80 bytes for each
// stack. Not synchronised.
class HeaptrackCosts {
 public:
  struct Stack {
    BlocksAndBytes allocated;
    BlocksAndBytes live;
    BlocksAndBytes temporary;
    BlocksAndBytes at_peak;
    uint64_t peak = 0;  // number of the peak that `at_peak` is about
  };

  // REQUIRES: sizes below 2^48. False if sums do not fit into 63 bits.
  bool Allocate(uint32_t stack, uint64_t size) {
    if (stack >= stacks_.size()) stacks_.resize(size_t{stack} + 1);
    Stack& its = stacks_[stack];
    Settle(&its);
    if (!its.allocated.Add(size) || !its.live.Add(size) || !total_.allocated.Add(size) ||
        !total_.live.Add(size)) {
      return false;
    }
    if (total_.live.bytes > total_.at_peak.bytes) {
      total_.at_peak = total_.live;
      ++peak_;
      new_peak_ = true;
    }
    return true;
  }

  // False if the stack has no live block: the free belongs to nothing.
  bool Free(uint32_t stack, uint64_t size, bool temporary) {
    if (stack >= stacks_.size() || stacks_[stack].live.blocks == 0) return false;
    Stack& its = stacks_[stack];
    Settle(&its);
    its.live.Remove(size);
    total_.live.Remove(size);
    if (temporary) {
      its.temporary.Add(size);
      total_.temporary.Add(size);
    }
    return true;
  }

  // The sums over all stacks.
  const Stack& total() const { return total_; }
  // Whether the heap was larger than ever since the last call.
  bool TakeNewPeak() {
    const bool is_new = new_peak_;
    new_peak_ = false;
    return is_new;
  }

  // By number. Call when all is read.
  const std::vector<Stack>& Finish() {
    for (Stack& its : stacks_) Settle(&its);
    return stacks_;
  }

 private:
  void Settle(Stack* its) const {
    if (its->peak == peak_) return;
    its->at_peak = its->live;
    its->peak = peak_;
  }

  std::vector<Stack> stacks_;
  Stack total_;
  uint64_t peak_ = 0;  // how often there was a new one
  bool new_peak_ = false;
};

// Points of the timeline of a heaptrack file, which has one for every 10 ms: some are left out of a
// long one, evenly, so that a day takes no more memory than a minute.
//
// Not synchronised.
class HeaptrackTimeline {
 public:
  static constexpr size_t kMost = 1 << 15;

  void Add(const TimelinePoint& point) {
    last_ = point;
    if (seen_++ % stride_ != 0) return;
    points_.push_back(point);
    if (points_.size() < kMost) return;
    for (size_t i = 0; i < points_.size() / 2; ++i) points_[i] = points_[2 * i];
    points_.resize(points_.size() / 2);
    stride_ *= 2;
  }

  // With the last point, wherever it falls; of two at one time the last one stays.
  std::vector<TimelinePoint> Take() {
    if (seen_ == 0) return {};
    if (points_.back().time_ns == last_.time_ns) points_.pop_back();
    points_.push_back(last_);
    return std::move(points_);
  }

 private:
  std::vector<TimelinePoint> points_;
  TimelinePoint last_;
  uint64_t seen_ = 0;
  uint64_t stride_ = 1;
};

namespace {

class ProfileMaker final : public HeaptrackVisitor {
 public:
  ProfileMaker() : names_(&profile_), stacks_(&profile_) {}

  void Program(std::string_view path) override { profile_.recording.program = path; }
  void Command(std::string_view line) override {
    profile_.recording.command_line = WordsOf(line, " ");
  }
  void Pages(uint64_t page_bytes, uint64_t /*pages*/) override {
    if (page_bytes > 0 && page_bytes <= uint64_t{1} << 30) page_bytes_ = page_bytes;
  }
  void Suppression(std::string_view /*pattern*/) override { ++suppressions_; }
  void Attached() override { attached_ = true; }
  void ClearModules() override { names_.modules().Clear(); }
  void AddModule(std::string_view name, uint64_t base,
                 const std::vector<std::pair<uint64_t, uint64_t>>& segments) override {
    names_.modules().Add(name.empty() ? std::string_view(profile_.recording.program) : name, base,
                         segments);
  }
  Status String(std::string_view text) override {
    names_.AddString(text);
    return {};
  }
  Status Instruction(uint64_t address, uint32_t module,
                     const std::vector<HeaptrackFrame>& frames) override {
    names_.AddInstruction(address, module, frames);
    return {};
  }

  Status Stack(uint64_t instruction, uint32_t parent, bool is_raw) override {
    const LocationId location =
        is_raw ? names_.Address(instruction) : names_.Instruction(instruction);
    leaves_.push_back(stacks_.Child(parent == 0 ? kNone : leaves_[parent - 1], location));
    return {};
  }

  Status Allocate(const HeaptrackBlock& block) override {
    if (!costs_.Allocate(block.stack, block.size)) {
      return Fail(ErrorCode::kUnsupported, "the sum of all sizes does not fit into 63 bits");
    }
    if (costs_.TakeNewPeak()) profile_.recording.peak_ns = now_ns_;
    return {};
  }
  Status Free(const HeaptrackBlock& block, bool temporary) override {
    if (!costs_.Free(block.stack, block.size, temporary)) ++idle_frees_;
    return {};
  }
  Status Time(uint64_t milliseconds) override {
    AddPoint();
    now_ns_ = MillisecondsToNs(milliseconds);
    return {};
  }
  void Resident(uint64_t pages) override {
    if (__builtin_mul_overflow(pages, page_bytes_, &resident_)) resident_ = 0;
  }

  Profile Take(const HeaptrackOutcome& outcome) {
    AddPoint();
    names_.Finish();
    AddRows();
    profile_.distinct_nodes = stacks_.distinct();
    profile_.timeline = timeline_.Take();
    RecordingFacts& recording = profile_.recording;
    recording.duration_ns = now_ns_;
    recording.has_peak = true;
    recording.peak_bytes = static_cast<uint64_t>(costs_.total().at_peak.bytes);
    if (recording.program.empty() && !recording.command_line.empty()) {
      recording.program = recording.command_line.front();
    }
    profile_.duration_ns = static_cast<int64_t>(std::min<uint64_t>(now_ns_, INT64_MAX));
    Note(outcome);
    return std::move(profile_);
  }

 private:
  // The heap as it was up to this moment.
  void AddPoint() {
    const HeaptrackCosts::Stack& total = costs_.total();
    TimelinePoint point;
    point.time_ns = now_ns_;
    point.live_bytes = static_cast<uint64_t>(std::max<int64_t>(0, total.live.bytes));
    point.live_objects = static_cast<uint64_t>(total.live.blocks);
    point.allocated_bytes = static_cast<uint64_t>(total.allocated.bytes);
    point.freed_bytes = point.allocated_bytes - point.live_bytes;
    point.resident_bytes = resident_;
    timeline_.Add(point);
  }

  void AddRows() {
    profile_.sample_types = HeapSampleTypes();
    profile_.sample_types.push_back({"peak_objects", "count"});
    profile_.sample_types.push_back({"peak_space", "bytes"});
    profile_.sample_types.push_back({"temporary_objects", "count"});
    profile_.sample_types.push_back({"temporary_space", "bytes"});
    profile_.default_type = kInuseSpace;
    const std::vector<HeaptrackCosts::Stack>& stacks = costs_.Finish();
    for (uint32_t number = 0; number < stacks.size(); ++number) {
      const HeaptrackCosts::Stack& its = stacks[number];
      if (its.allocated.blocks == 0) continue;
      Row row;
      row.leaf = number == 0 ? kNone : leaves_[number - 1];
      profile_.rows.push_back(row);
      for (const BlocksAndBytes& sum : {its.allocated, its.live, its.at_peak, its.temporary}) {
        profile_.values.push_back(sum.blocks);
        profile_.values.push_back(sum.bytes);
      }
    }
  }

  void Note(const HeaptrackOutcome& outcome) {
    const auto note = [&](uint64_t count, const char* what) {
      if (count > 0) {
        profile_.notes.push_back(
            fmt::format("heaptrack file: {} {}", FormatCount(static_cast<double>(count)), what));
      }
    };
    note(outcome.unknown_frees, "frees of blocks that it does not know, left out");
    note(outcome.missed_frees, "blocks were not freed when their address was handed out again");
    note(idle_frees_, "frees without a live block of their stack, left out");
    note(outcome.unknown_lines, "lines of an unknown kind, left out");
    note(suppressions_, "suppressions, which are not applied");
    if (attached_) {
      profile_.notes.emplace_back(
          "heaptrack file: it was attached to a running program, older blocks are not in it");
    }
    if (outcome.breaks_off) {
      profile_.notes.emplace_back(
          "heaptrack file: it breaks off within its compressed data; what is before that is here");
    }
    if (outcome.cut) profile_.notes.emplace_back("heaptrack file: the last line is cut, left out");
  }

  Profile profile_;
  HeaptrackNames names_;
  StackBuilder stacks_;
  std::vector<NodeId> leaves_;  // by number of the stack, from 1
  HeaptrackCosts costs_;
  HeaptrackTimeline timeline_;
  uint64_t page_bytes_ = 4096;
  uint64_t now_ns_ = 0;
  uint64_t resident_ = 0;
  uint64_t suppressions_ = 0;
  uint64_t idle_frees_ = 0;
  bool attached_ = false;
};

}  // namespace

Result<Profile> ReadHeaptrack(ByteStream* stream, const std::string& name) {
  ProfileMaker maker;
  HG_ASSIGN(const HeaptrackOutcome outcome, ReadHeaptrackFile(stream, name, &maker));
  return maker.Take(outcome);
}

}  // namespace heapgauge
