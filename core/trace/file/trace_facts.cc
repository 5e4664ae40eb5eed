#include "core/trace/file/trace_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/base/text.h"
#include "core/trace/file/moment.h"

namespace heapgauge::trace {
namespace {

// Numbers of fields are never used again for something else.
enum Field : uint64_t {
  kState = 1,
  kProgram = 2,
  kArgument = 3,  // once for each
  kPid = 4,
  kParentPid = 5,
  kUid = 6,
  kForked = 7,
  kAllocator = 8,
  kAllocatorPath = 9,
  kStart = 10,
  kDuration = 11,
  kTruncatedWalks = 12,
  kUnreadable = 13,
  kFileBytes = 14,
  kPrivateBytes = 15,
  kLostSamples = 16,  // reason and count, once for each
  kLostMappings = 17,
  kForkedNs = 18,
  kLostEvents = 32,
  kUnknownFrees = 33,
  kMissedFrees = 34,
  kWaits = 35,
  kWaitedNs = 36,
  kCulledBelow = 37,
  kCulledBlocks = 38,
  kCulledBytes = 39,
  kRecordsMappings = 40,
  kComplete = 41,
  kOnlyBlocks = 42,
  kUntracedFrom = 43,
  kLackedDescriptors = 44,
};

// Calls `number(field, uint64_t&)`, `flag(field, bool&)` or `word(field, std::string&)` for each
// plain field: one list for both directions.
template <typename TheFacts, typename Number, typename Flag, typename Word>
void ForEachField(TheFacts& facts, Number number, Flag flag, Word word) {
  auto& r = facts.recording;
  word(kProgram, r.program);
  number(kPid, r.pid);
  number(kParentPid, r.parent_pid);
  number(kUid, r.uid);
  flag(kForked, r.forked);
  number(kForkedNs, r.forked_ns);
  word(kAllocator, r.allocator);
  word(kAllocatorPath, r.allocator_path);
  number(kStart, r.start_unix_ns);
  number(kDuration, r.duration_ns);
  number(kTruncatedWalks, r.truncated_walks);
  number(kUnreadable, r.unreadable_records);
  number(kFileBytes, r.file_bytes);
  number(kPrivateBytes, r.private_bytes);
  number(kLostMappings, r.lost_mappings);
  number(kLostEvents, facts.lost_events);
  flag(kLackedDescriptors, r.lacked_descriptors);
  number(kUnknownFrees, facts.unknown_frees);
  number(kMissedFrees, facts.missed_frees);
  number(kWaits, facts.waits);
  number(kWaitedNs, facts.waited_ns);
  number(kCulledBelow, facts.culled_below_ns);
  number(kCulledBlocks, facts.culled_blocks);
  number(kCulledBytes, facts.culled_bytes);
  flag(kRecordsMappings, facts.records_mappings);
  flag(kComplete, facts.complete);
  flag(kOnlyBlocks, facts.only_blocks);
  number(kUntracedFrom, facts.untraced_from_ns);
}

constexpr size_t kMaxRepeated = 1 << 16;

}  // namespace

void EncodeFacts(const Facts& facts, ColumnWriter* out) {
  ColumnWriter value;
  const auto put = [&](uint64_t field) {
    out->Number(field);
    out->Number(value.size());
    out->Raw(value.bytes().data(), value.size());
    value.Clear();
  };
  const auto number = [&](Field field, const auto& v) {
    if (v == 0) return;
    value.Number(v);
    put(field);
  };
  const auto word = [&](Field field, const std::string& text) {
    if (text.empty()) return;
    value.Raw(text.data(), text.size());
    put(field);
  };
  const auto flag = [&](Field field, bool set) { number(field, uint64_t{set}); };
  ForEachField(facts, number, flag, word);
  number(kState, static_cast<uint64_t>(facts.recording.state));
  for (const std::string& argument : facts.recording.command_line) {
    value.Raw(argument.data(), argument.size());
    put(kArgument);
  }
  for (const auto& [reason, count] : facts.recording.lost) {
    value.Number(count);
    value.Raw(reason.data(), reason.size());
    put(kLostSamples);
  }
}

bool DecodeFacts(std::span<const uint8_t> bytes, Facts* out) {
  Facts facts;
  ColumnReader in(bytes);
  while (in.left() != 0) {
    const uint64_t field = in.Number();
    const std::string_view text = in.Text();
    if (!in.ok()) return false;
    ColumnReader value({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
    const auto number = [&](Field which, auto& v) {
      if (which == field) v = static_cast<std::remove_reference_t<decltype(v)>>(value.Number());
    };
    const auto flag = [&](Field which, bool& v) {
      if (which == field) v = value.Number() != 0;
    };
    const auto word = [&](Field which, std::string& v) {
      if (which == field) v = Printable(text);
    };
    ForEachField(facts, number, flag, word);
    RecordingFacts& recording = facts.recording;
    if (field == kState) {
      const uint64_t state = value.Number();
      if (state > static_cast<uint64_t>(RecordingState::kGone)) return false;
      recording.state = static_cast<RecordingState>(state);
    } else if (field == kArgument && recording.command_line.size() < kMaxRepeated) {
      recording.command_line.push_back(Printable(text));
    } else if (field == kLostSamples && recording.lost.size() < kMaxRepeated) {
      const uint64_t count = value.Number();
      recording.lost.emplace_back(Printable(text.substr(text.size() - value.left())), count);
    }
    if (!value.ok()) return false;
  }
  for (uint64_t* const time : {&facts.recording.start_unix_ns, &facts.recording.duration_ns,
                               &facts.recording.peak_ns, &facts.untraced_from_ns}) {
    *time = std::min(*time, kLatestNs);
  }
  *out = std::move(facts);
  return true;
}

namespace {

// One of the two, behind the number.
std::string Counted(uint64_t count, const char* one, const char* many) {
  return FormatCount(static_cast<double>(count)) + (count == 1 ? one : many);
}

}  // namespace

std::vector<std::string> GapsOf(const Facts& facts, bool is_damaged) {
  std::vector<std::string> gaps;
  if (facts.being_written) {
    gaps.emplace_back("the trace is being written: these are the figures so far");
  } else if (!facts.complete && facts.recording.state == RecordingState::kSnapshot) {
    gaps.emplace_back("the trace was copied while it was being written: figures are up to then");
  } else if (!facts.complete && !is_damaged) {
    gaps.emplace_back("the trace has no end: its recorder was killed, or the file was cut off");
  }
  if (facts.untraced_from_ns != 0) {
    gaps.push_back(fmt::format(
        "the program was no longer traced from {} on, because nobody emptied its buffers or its "
        "own seccomp filter forbade it: what it did after that is missing",
        FormatMoment(facts.untraced_from_ns)));
  }
  if (facts.lost_events != 0) {
    gaps.push_back(Counted(facts.lost_events, " event found no room and is missing",
                           " events found no room and are missing") +
                   (facts.recording.lacked_descriptors
                        ? ", because the program had no file descriptor left"
                        : "") +
                   ": figures are not exact");
  }
  if (facts.culled_blocks != 0) {
    gaps.push_back(fmt::format(
        "{} ({}) that lived shorter than {} {} left out when the trace was recorded; chains of "
        "reallocs are cut there",
        Counted(facts.culled_blocks, " block", " blocks"),
        FormatBytes(static_cast<double>(facts.culled_bytes)), FormatMoment(facts.culled_below_ns),
        facts.culled_blocks == 1 ? "was" : "were"));
  }
  if (facts.missed_frees != 0) {
    gaps.push_back(Counted(facts.missed_frees,
                           " free was not seen: its block ends where the address was used again",
                           " frees were not seen: their blocks end where the address was used "
                           "again"));
  }
  if (LacksAllocations(facts)) {
    gaps.push_back(Counted(facts.unknown_frees, " free was of a block", " frees were of blocks") +
                   " that the trace does not know: these allocations, and perhaps others, were not "
                   "seen by the agent");
  }
  return gaps;
}

}  // namespace heapgauge::trace
