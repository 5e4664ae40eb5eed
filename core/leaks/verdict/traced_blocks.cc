#include "core/leaks/verdict/traced_blocks.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "core/base/file.h"
#include "core/base/text.h"
#include "core/gauge/gauge_layout.h"
#include "core/leaks/verdict/sampled_blocks.h"
#include "core/os/process.h"
#include "core/trace/file/live_trace.h"
#include "core/trace/file/trace_file.h"

namespace heapgauge::leaks {
namespace {

// The run is cut into as many parts, and each is looked at so many times for its least.
constexpr size_t kParts = 32;
constexpr size_t kLooks = 4 * kParts;

// Goes through a trace and writes the histories of the stacks that have live blocks.
class Histories {
 public:
  Histories(const trace::TraceFile& trace, KnownBlocks* known)
      : trace_(trace), known_(*known), live_(known->stacks.size()) {
    known_.histories.resize(known_.stacks.size());
    std::vector<bool> seen(known_.stacks.size());
    for (const KnownBlock& block : known_.blocks) {
      if (seen[block.stack]) continue;
      seen[block.stack] = true;
      watched_.push_back(block.stack);
    }
    for (const uint32_t stack : watched_) {
      known_.histories[stack].least_live.assign(kParts, UINT64_MAX);
    }
  }

  Status Run() {
    trace::Segment segment;
    std::vector<trace::StackSums> sums;
    for (size_t i = 0; i < trace_.segments().size(); ++i) {
      const trace::SegmentInfo& info = trace_.segments()[i];
      if (info.begin_ns > known_.now_ns) break;
      LookUntil(info.begin_ns);
      const bool beyond = info.end_ns > known_.now_ns;
      if (beyond || (next_look_ < kLooks && LookTime(next_look_) < info.end_ns)) {
        HG_TRY(trace_.ReadSegment(i, trace::kOldBlocks | trace::kNewBlocks | trace::kEvents,
                                  &segment));
        for (const trace::Event& event : segment.events) {
          if (event.time_ns > known_.now_ns) break;
          LookUntil(event.time_ns);
          if (event.died != trace::kNoIndex) Died(segment.blocks[event.died]);
          if (event.born != trace::kNoIndex) Born(segment.blocks[event.born]);
        }
        continue;
      }
      HG_TRY(trace_.ReadSums(i, &sums));
      for (const trace::StackSums& s : sums) {
        if (s.is_mapping || s.stack >= live_.size()) continue;
        Add(s.stack, s.allocated_blocks, s.allocated_bytes);
        Remove(s.stack, s.freed_blocks, s.freed_bytes);
      }
    }
    LookUntil(UINT64_MAX);
    return {};
  }

 private:
  uint64_t LookTime(size_t look) const {
    return known_.now_ns / kLooks * (look + 1) + known_.now_ns % kLooks * (look + 1) / kLooks;
  }

  // Takes all looks that are due before what happens at `time_ns`.
  void LookUntil(uint64_t time_ns) {
    for (; next_look_ < kLooks && LookTime(next_look_) < time_ns; ++next_look_) {
      const size_t part = next_look_ * kParts / kLooks;
      for (const uint32_t stack : watched_) {
        uint64_t& least = known_.histories[stack].least_live[part];
        least = std::min(least, live_[stack]);
      }
    }
  }

  void Born(const trace::Block& block) {
    if (!block.is_mapping && block.stack < live_.size()) Add(block.stack, 1, block.size);
  }
  void Died(const trace::Block& block) {
    if (!block.is_mapping && block.stack < live_.size()) Remove(block.stack, 1, block.size);
  }
  void Add(uint32_t stack, uint64_t blocks, uint64_t bytes) {
    StackHistory& history = known_.histories[stack];
    history.taken += static_cast<double>(blocks);
    history.allocated_bytes += static_cast<double>(bytes);
    live_[stack] += bytes;
  }
  void Remove(uint32_t stack, uint64_t blocks, uint64_t bytes) {
    StackHistory& history = known_.histories[stack];
    history.freed += static_cast<double>(blocks);
    history.freed_bytes += static_cast<double>(bytes);
    // The file may be damaged: no number is trusted.
    live_[stack] -= std::min(live_[stack], bytes);
  }

  const trace::TraceFile& trace_;
  KnownBlocks& known_;
  std::vector<uint64_t> live_;     // bytes, by stack
  std::vector<uint32_t> watched_;  // stacks that have live blocks
  size_t next_look_ = 0;
};

Gap GapOf(const trace::TraceFile& trace, bool at_end) {
  const trace::Facts& facts = trace.facts();
  if (facts.lost_events != 0) return Gap::kEvents;
  if (facts.breaks_off && at_end) return Gap::kEnd;
  // What was left out because it lived short may have been live then.
  return facts.culled_below_ns != 0 && !at_end ? Gap::kYoung : Gap::kNone;
}

}  // namespace

Result<KnownBlocks> TracedBlocks(const trace::TraceFile& trace,
                                 const trace::TraceFile::Stacks& stacks, uint64_t at_ns) {
  KnownBlocks known;
  const bool at_end = at_ns == trace::kNever;
  known.gap = GapOf(trace, at_end);
  known.exact = known.gap == Gap::kNone;
  known.profile = stacks.profile;
  known.profile.recording = trace.facts().recording;
  known.now_ns = at_end ? trace.end_ns() : at_ns;
  known.profile.recording.duration_ns = known.now_ns;
  known.stacks.resize(std::max<size_t>(trace.stack_count(), 1));
  for (size_t i = 0; i < std::min(known.stacks.size(), stacks.stacks.size()); ++i) {
    known.stacks[i] = {stacks.stacks[i].leaf, stacks.stacks[i].labels};
  }
  const std::vector<trace::Thread>& threads = trace.threads();
  const auto add = [&](const trace::Block& block) {
    if (block.is_mapping || block.birth_ns > at_ns) return;
    KnownBlock& out = known.blocks.emplace_back();
    out.address = block.address;
    out.size = block.size;
    out.birth_ns = std::min(block.birth_ns, known.now_ns);
    out.stack = block.stack < known.stacks.size() ? block.stack : 0;
    out.thread = (block.thread < threads.size() ? threads[block.thread].id : 0) & 0xffffff;
    out.function = block.function;
  };
  HG_TRY(trace.ForEachSurvivor(add));
  // Those that went later were there.
  trace::Segment segment;
  for (size_t i = trace.segments().size(); i-- > 0 && trace.segments()[i].end_ns > at_ns;) {
    HG_TRY(
        trace.ReadSegment(i, trace::kOldBlocks | trace::kNewBlocks | trace::kAddresses, &segment));
    for (const trace::Block& block : segment.blocks) {
      if (!block.is_live() && block.death_ns > at_ns) add(block);
    }
  }
  const uint64_t dropped = MakeDistinct(&known.blocks);
  known.profile.notes = trace.notes();
  if (dropped != 0) {
    known.profile.notes.push_back(fmt::format(
        "{} blocks were freed unseen: others have their place now, and count", dropped));
  }
  HG_TRY(Histories(trace, &known).Run());
  return known;
}

namespace {

// A recorder writes what it has after ten seconds at the latest.
constexpr uint64_t kLongestWait = 13 * kSecondNs;
constexpr long kStepNs = 100'000'000;

// Under `run --leaks`.
bool WaitsForCheckAtExit(const std::string& gauge_path) {
  const auto file = File::OpenForReading(gauge_path);
  if (!file) return false;
  const auto layout = GaugeLayout::Read(*file, gauge_path);
  return layout && layout->header().leaks.wants_exit_check != 0;
}

}  // namespace

Result<std::unique_ptr<RecordedBlocks>> RecordedBlocks::Find(uint32_t pid,
                                                             const std::string& gauge_path,
                                                             uint64_t start_ns) {
  if (std::string path = trace::FindLiveTrace(gauge_path); !path.empty()) {
    return std::make_unique<RecordedBlocks>(std::move(path), gauge_path, start_ns);
  }
  if (WaitsForCheckAtExit(gauge_path)) {
    return Fail(ErrorCode::kUnavailable,
                fmt::format("process {} runs under heapgauge run --leaks and is checked when it "
                            "ends; to check it before, have a trace written as well (run --leaks "
                            "--trace -o FILE), or start it by heapgauge run alone",
                            pid));
  }
  return Fail(ErrorCode::kUnavailable,
              fmt::format("process {} is recorded whole, not sampled, and the trace of it was not "
                          "found: heapgauge leaks FILE.hgt tells what grows; run --leaks tells at "
                          "its end what is lost",
                          pid));
}

void RecordedBlocks::Mark() {
  const uint64_t now = MonotonicNow();
  marked_ns_ = now > start_ns_ ? now - start_ns_ : 0;
}

Result<KnownBlocks> RecordedBlocks::Read() const {
  const uint64_t began = MonotonicNow();
  const bool written = trace::HaveTraceWritten(gauge_path_);
  for (;;) {
    const bool last = MonotonicNow() - began > kLongestWait;
    HG_ASSIGN(const std::shared_ptr<const trace::TraceFile> trace, trace::TraceFile::Open(path_));
    // Where blocks that die young are left out, young ones are kept back.
    const bool has_all = written && trace->facts().culled_below_ns == 0;
    const bool reaches = trace->facts().complete || trace->end_ns() > marked_ns_;
    if (last && !written && !reaches) {
      return Fail(
          ErrorCode::kUnavailable,
          fmt::format("'{}' does not tell what is live now: its recorder writes nothing any "
                      "more; it may be stopped, or its disk may be full",
                      Printable(path_)));
    }
    if (last || has_all || reaches) {
      HG_ASSIGN(const std::shared_ptr<const trace::TraceFile::Stacks> stacks, trace->ReadStacks());
      return TracedBlocks(*trace, *stacks, marked_ns_);
    }
    const timespec step{0, kStepNs};
    nanosleep(&step, nullptr);
  }
}

}  // namespace heapgauge::leaks
