#include "core/leaks/verdict/check_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <string_view>
#include <utility>

#include "core/base/file.h"
#include "core/base/text.h"
#include "core/fold/statistics.h"
#include "core/gauge/gauge_directory.h"
#include "core/leaks/verdict/sampled_blocks.h"
#include "core/leaks/verdict/suspects.h"
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

namespace {

constexpr double kLevelOfSeries = 0.05;
constexpr double kLevelOfOne = 0.01;
constexpr size_t kFewestForTrend = 6;
constexpr double kShortestSeconds = 10;  // at first everything grows
constexpr size_t kAmountsTold = 4;

// The first, some in between and the last.
std::vector<size_t> Chosen(size_t count, size_t most) {
  std::vector<size_t> chosen;
  const size_t taken = std::min(count, most);
  for (size_t i = 0; i < taken; ++i) {
    chosen.push_back(taken < 2 ? 0 : i * (count - 1) / (taken - 1));
  }
  return chosen;
}

std::vector<double> AmountsOf(const DumpSeries& series, const Check& check,
                              const Suspect& suspect) {
  std::vector<double> sums(series.times_ns.size());
  // Two stacks that differ by labels alone have the same places.
  std::vector<uint64_t> places;
  for (const uint32_t stack : suspect.stacks) {
    places.push_back(PlacesOf(check.known.profile, check.known.stacks[stack].leaf));
  }
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  for (const uint64_t place : places) {
    const auto found = series.bytes.find(place);
    if (found == series.bytes.end()) continue;
    for (size_t i = 0; i < found->second.size(); ++i) sums[i] += found->second[i];
  }
  return sums;
}

// "; 2.1 MB, 3.0 MB, 4.2 MB and 5.1 MB in 6 dumps over 40m"
std::string AmountsText(const DumpSeries& series, const std::vector<double>& amounts) {
  const std::vector<size_t> told = Chosen(amounts.size(), kAmountsTold);
  std::string text;
  for (size_t i = 0; i < told.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == told.size() ? " and " : ", ") + FormatBytes(amounts[told[i]]);
  }
  return fmt::format("; {} in {} dumps over {}", text, amounts.size(),
                     FormatDuration(series.times_ns.back() - series.times_ns.front()));
}

// `rise` is by seconds.
void SetGrowth(const Rise& rise, const std::vector<double>& amounts, Suspect* suspect) {
  GrowthEvidence& growth = suspect->growth;
  growth.trend = Trend::kGrowing;
  growth.p = rise.p;
  growth.bytes_per_second = rise.slope;
  growth.bytes_per_second_95 = rise.slope_95;
  const double grown = std::max(0.0, amounts.back() - amounts.front());
  growth.grown = {grown, 0, 0, grown, 0};
  suspect->grows = true;
  suspect->score += grown;
}

}  // namespace

uint64_t PlacesOf(const Profile& profile, NodeId leaf) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (NodeId node = leaf; node != kNone; node = profile.nodes[node].parent) {
    const LocationId location = profile.nodes[node].location;
    const uint64_t address = location == kNone ? 0 : profile.locations[location].address;
    hash = (hash ^ address) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  }
  return hash;
}

void AddToSeries(const KnownBlocks& known, const std::string& path, DumpSeries* series) {
  std::vector<double> of_stack(known.stacks.size());
  for (const KnownBlock& block : known.blocks) of_stack[block.stack] += BytesOf(block).value;
  const size_t at = series->times_ns.size();
  series->times_ns.push_back(known.now_ns);
  series->paths.push_back(path);
  for (size_t stack = 0; stack < of_stack.size(); ++stack) {
    if (of_stack[stack] <= 0) continue;
    std::vector<double>& amounts = series->bytes[PlacesOf(known.profile, known.stacks[stack].leaf)];
    amounts.resize(at + 1);
    amounts[at] += of_stack[stack];
  }
  for (auto& [places, amounts] : series->bytes) amounts.resize(at + 1);
}

Result<DumpSeries> ReadDumpSeries(std::vector<std::string> paths) {
  std::vector<std::pair<uint64_t, std::string>> by_time;
  GaugeOwner first;
  for (std::string& path : paths) {
    HG_ASSIGN(const GaugeOwner owner, ReadOwner(path));
    if (by_time.empty()) first = owner;
    if (owner.pid != first.pid || owner.start_realtime_ns != first.start_realtime_ns) {
      return Fail(ErrorCode::kInvalidArgument,
                  fmt::format("'{}' is of another run (pid {}) than '{}' (pid {}); growth is told "
                              "from dumps of one run",
                              Printable(path), owner.pid, Printable(first.path), first.pid));
    }
    // The program's own file goes on after its dumps.
    by_time.emplace_back(owner.is_copy ? owner.dump_ns : UINT64_MAX, std::move(path));
  }
  std::sort(by_time.begin(), by_time.end());
  DumpSeries series;
  for (const size_t i : Chosen(by_time.size(), DumpSeries::kMostDumps)) {
    HG_ASSIGN(const KnownBlocks known, SampledBlocks(by_time[i].second));
    AddToSeries(known, by_time[i].second, &series);
  }
  return series;
}

void AddDumpEvidence(const DumpSeries& series, const Check& check, Suspects* suspects) {
  if (series.times_ns.size() < 2) return;
  const double seconds =
      static_cast<double>(series.times_ns.back() - series.times_ns.front()) * 1e-9;
  if (!(seconds > 0)) return;
  // Dumps are made when somebody asks, or memory grows: not evenly.
  std::vector<double> times;
  for (const uint64_t at : series.times_ns) {
    times.push_back(static_cast<double>(at) * 1e-9);
  }
  const size_t judged = std::max<size_t>(suspects->suspects.size() + suspects->others.size(), 1);
  const double level = std::min(kLevelOfOne, kLevelOfSeries / static_cast<double>(judged));
  for (std::vector<Suspect>* list : {&suspects->suspects, &suspects->others}) {
    for (Suspect& suspect : *list) {
      const std::vector<double> amounts = AmountsOf(series, check, suspect);
      const Rise rise = RiseOf(amounts, times);
      const bool rises = amounts.size() >= kFewestForTrend && seconds >= kShortestSeconds &&
                         rise.p <= level && rise.slope > 0 && !check.at_exit;
      if (rises && !suspect.grows) {
        SetGrowth(rise, amounts, &suspect);
        suspect.sentence = SentenceOf(check, suspect);
      }
      suspect.least_live.clear();
      for (const double amount : amounts) {
        suspect.least_live.push_back(static_cast<uint64_t>(std::max(amount, 0.0)));
      }
      if (suspect.suspected()) suspect.sentence += AmountsText(series, amounts);
    }
  }
  const auto accused = std::stable_partition(suspects->others.begin(), suspects->others.end(),
                                             [](const Suspect& s) { return !s.suspected(); });
  std::move(accused, suspects->others.end(), std::back_inserter(suspects->suspects));
  suspects->others.erase(accused, suspects->others.end());
  std::stable_sort(suspects->suspects.begin(), suspects->suspects.end(),
                   [](const Suspect& a, const Suspect& b) { return a.score > b.score; });
}

}  // namespace heapgauge::leaks
