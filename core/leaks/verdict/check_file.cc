#include "core/leaks/verdict/check_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string_view>
#include <utility>

#include "core/base/file.h"
#include "core/base/text.h"
#include "core/leaks/verdict/sampled_blocks.h"
#include "core/leaks/verdict/traced_blocks.h"
#include "core/recording/read_profile.h"
#include "core/trace/file/live_trace.h"
#include "core/trace/file/trace_file.h"

namespace heapgauge::leaks {
namespace {

uint64_t Rounded(double value) {
  return value > 0 && value < 1e19 ? static_cast<uint64_t>(std::llround(std::min(value, 9e18))) : 0;
}

// Why there is no check of a file that is neither a gauge file nor a trace as it stands.
Error WhyNoBlocks(const std::string& path) {
  const auto format = FormatOfFile(path);
  if (!format) return format.error();
  if (*format == ProfileFormat::kGauge || *format == ProfileFormat::kTrace) {
    return {ErrorCode::kUnsupported,
            fmt::format("{}: a {} is read by position: give the path of the file itself, not "
                        "compressed",
                        Printable(path), FormatName(*format))};
  }
  return {ErrorCode::kUnsupported,
          fmt::format("'{}' ({}) does not tell single blocks and their ages; leaks reads gauge "
                      "files, dumps of them and traces, or looks at a running process",
                      Printable(path), FormatName(*format))};
}

}  // namespace

Result<Check> CheckTrace(const trace::TraceFile& file, const trace::TraceFile::Stacks& stacks) {
  Check check;
  HG_ASSIGN(check.known, TracedBlocks(file, stacks));
  SetFacts(&check);
  check.threads = static_cast<uint32_t>(file.threads().size());
  SetTracedTotals(&check);
  if (file.facts().lost_events != 0) {
    check.notes.emplace_back("some blocks may have been freed: events are missing");
  }
  return check;
}

void SetTracedTotals(Check* check) {
  double allocations = 0;
  double frees = 0;
  double allocated_bytes = 0;
  for (const StackHistory& history : check->known.histories) {
    allocations += history.taken;
    frees += history.freed;
    allocated_bytes += history.allocated_bytes;
  }
  check->allocations = Rounded(allocations);
  check->frees = Rounded(frees);
  check->allocated_bytes = Rounded(allocated_bytes);
}

void SetFacts(Check* check) {
  const Profile& profile = check->known.profile;
  const RecordingFacts& recording = profile.recording;
  check->pid = recording.pid;
  check->executable = recording.program;
  check->command_line = recording.command();
  check->unix_ns = recording.start_unix_ns + check->known.now_ns;
  check->notes.insert(check->notes.end(), profile.notes.begin(), profile.notes.end());
  if (!check->known.sampled() || profile.sample_types.size() != kHeapTypes) return;
  const double allocated = profile.Total(kAllocObjects).value;
  const double live = profile.Total(kInuseObjects).value;
  check->allocations = Rounded(allocated);
  check->frees = Rounded(std::max(allocated - live, 0.0));
  check->allocated_bytes = Rounded(profile.Total(kAllocSpace).value);
  if (recording.lost_samples() != 0) {
    check->notes.push_back(fmt::format("{} samples found no room in the gauge file",
                                       FormatCount(static_cast<double>(recording.lost_samples()))));
  }
}

Result<Check> CheckFile(const std::string& path) {
  HG_ASSIGN(const File file, File::OpenForReading(path));
  char start[512];
  const ProfileFormat format = DetectFormat({start, file.ReadAt(0, start, sizeof start)});
  if (format == ProfileFormat::kTrace) {
    HG_ASSIGN(const std::shared_ptr<const trace::TraceFile> trace, trace::TraceFile::Open(path));
    HG_ASSIGN(const std::shared_ptr<const trace::TraceFile::Stacks> stacks, trace->ReadStacks());
    return CheckTrace(*trace, *stacks);
  }
  if (format != ProfileFormat::kGauge) return tl::unexpected<Error>(WhyNoBlocks(path));
  Check check;
  HG_ASSIGN(check.known, SampledBlocks(path));
  SetFacts(&check);
  if (check.known.blocks.empty() && trace::TracedSince(path)) {
    check.notes.emplace_back(
        "every call of the program was recorded, so no block was sampled: the trace (FILE.hgt) has "
        "them all");
  }
  return check;
}

}  // namespace heapgauge::leaks
