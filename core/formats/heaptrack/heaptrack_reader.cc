#include "core/formats/heaptrack/heaptrack_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.h"
#include "core/formats/heaptrack/heaptrack_costs.h"
#include "core/formats/heaptrack/heaptrack_names.h"
#include "core/formats/heaptrack/heaptrack_parser.h"
#include "core/formats/heaptrack/heaptrack_text.h"
#include "core/formats/heaptrack/heaptrack_timeline.h"
#include "core/formats/text/split_command.h"
#include "core/model/stack_builder.h"

namespace heapgauge {
namespace {

class ProfileMaker final : public HeaptrackVisitor {
 public:
  ProfileMaker() : names_(&profile_), stacks_(&profile_) {}

  void Program(std::string_view path) override { profile_.recording.program = path; }
  void Command(std::string_view line) override {
    profile_.recording.command_line = SplitCommand(line);
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
