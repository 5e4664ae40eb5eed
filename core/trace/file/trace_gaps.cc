#include "core/trace/file/trace_gaps.h"

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/trace/file/moment.h"

namespace heapgauge::trace {
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
