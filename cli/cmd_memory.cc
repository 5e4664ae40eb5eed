// memory: where the resident memory of a process is.

#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "cli/cli.h"
#include "cli/report_options.h"
#include "core/base/text.h"
#include "core/fold/frames.h"
#include "core/fold/functions.h"
#include "core/gauge/gauge_control.h"
#include "core/gauge/gauge_facts.h"
#include "core/gauge/gauge_reader.h"
#include "core/memory/survey.h"
#include "core/recording/recording.h"
#include "core/report/labels.h"
#include "core/report/views/memory.h"

namespace heapgauge::cli {
namespace {

struct MemoryCommand {
  std::string source;
  std::string pick;
  bool json = false;
  bool mappings = false;
  bool no_statistics = false;
};

constexpr int kWaitMs = 1000;

// Asks the program for its allocator's statistics. Says why there are none; "" if there are.
std::string AskForStatistics(const GaugeMemory& gauge) {
  auto control = GaugeControl::Open(gauge.path);
  if (!control) return "the allocator was not asked: " + control.error().message;
  if (!control->RequestStatistics()) return "the allocator could not be asked";
  if (control->WaitForStatistics(kWaitMs)) return "";
  return "the allocator was asked, but the program has taken no sample since; its free memory is "
         "what the heap holds beside live blocks";
}

// What each stack has mapped itself, largest first.
std::vector<MappedRow> MappedRows(const std::string& path, const MemorySurvey& survey) {
  GaugeReadOptions read;
  read.kind = ProfileKind::kMmap;
  auto profile = ReadGaugeFile(path, read);
  if (!profile) return {};
  NameLocations({}, &*profile);
  std::map<uint64_t, RowId> row_at;
  for (const SampledBlock& block : profile->blocks) row_at[block.address] = block.row;
  const std::vector<uint32_t> allocation_frames = CountAllocationFrames(*profile);
  const std::vector<std::string> names = FrameNames(*profile, Granularity::kLines, Names::kShort);
  std::map<std::string, MappedRow> rows;
  for (const Piece& piece : survey.pieces) {
    if (piece.owner != Owner::kMapped) continue;
    const auto found = row_at.find(survey.mappings[piece.record].address);
    std::string name = "(unknown stack)";
    if (found != row_at.end()) {
      const FramePlace place = FlatFrame(*profile, found->second, allocation_frames);
      if (place.node != kNone) {
        const Location& location = profile->locations[profile->nodes[place.node].location];
        name = names[location.first_frame + place.k];
      }
    }
    MappedRow& row = rows[name];
    row.function = name;
    row.resident += piece.resident;
    row.bytes += piece.end - piece.start;
    ++row.mappings;
  }
  std::vector<MappedRow> sorted;
  for (auto& [name, row] : rows) sorted.push_back(std::move(row));
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const MappedRow& a, const MappedRow& b) { return a.resident > b.resident; });
  return sorted;
}

int Memory(const MemoryCommand& command) {
  const auto path = LocateFile(command.source, command.pick);
  if (!path) return FailWith(path.error());
  auto gauge = ReadGaugeMemory(*path);
  if (!gauge) return FailWith(gauge.error());
  std::string note;
  if (gauge->recording.state == RecordingState::kLive && !command.no_statistics) {
    note = AskForStatistics(*gauge);
    gauge = ReadGaugeMemory(*path);  // the answer, and blocks of this moment
    if (!gauge) return FailWith(gauge.error());
  }
  UseTracedBlocks(&*gauge);
  auto survey = SurveyMemory(*gauge);
  if (!survey) return FailWith(survey.error());
  if (!note.empty()) survey->notes.insert(survey->notes.begin(), note);
  MemoryOptions options;
  options.width = TerminalWidth();
  options.bars = isatty(STDOUT_FILENO) == 1;
  options.mappings = command.mappings;
  if (gauge->records_mappings) options.mapped = MappedRows(*path, *survey);
  return PrintOut(command.json ? MemoryJson(*survey, options) : MemoryText(*survey, options));
}

// A report that does not have memory as its subject does not wait for it: the mappings of a larger
// process take the kernel too long to list.
constexpr uint64_t kQuickBytes = uint64_t{512} << 20;

}  // namespace

std::string MemoryLineOf(const std::string& gauge_path) {
  const auto gauge = ReadGaugeMemory(gauge_path);
  if (!gauge || gauge->recording.state != RecordingState::kLive) return "";
  if (gauge->recording.traced) return "";  // what is live is not known here
  const auto survey = SurveyMemory(*gauge, {kQuickBytes, false});
  return survey && survey->live ? MemoryLine(*survey) : "";
}

namespace {

void DescribeMemory(Command sub, Action* action) {
  auto command = std::make_shared<MemoryCommand>();
  sub.Footer(R"(
Why the profile is smaller than the RSS: every part of the resident memory with its size. The parts add up;
what nobody is known to own is the last one. docs/memory.md explains each. Of a redis server:

    bytes   share
  91.9 MB   49.7%  live heap                 estimate 84.8 MB (95 %: 72.5-98.5 MB)
   2.9 MB    1.6%  rounding                  the allocator's blocks are larger than what was asked for
   4.4 MB    2.4%  allocator's metadata
  74.0 MB   40.0%  free in jemalloc          kept for later allocations
  56.0 kB   0.03%  thread stacks             5 stacks, 5 threads
  10.6 MB    5.8%  program and libraries     9.4 MB clean, 1.3 MB written to
  32.0 kB   0.02%  files
   832 kB    0.4%  heapgauge itself          gauge file, tables, library
   4.0 kB   0.00%  vdso
      0 B    0.0%  the rest
   185 MB    100%  RSS

Examples:
  heapgauge memory 4242
  heapgauge memory --mappings 4242           every mapping and whose it is
  heapgauge memory server.4242.hg            of a program that was killed: the last that is known)");
  sub.Add("SOURCE", &command->source, "PID or gauge file").Required();
  sub.Add("--pick", &command->pick, "which file of a directory: newest or oldest")
      .OneOf({"newest", "oldest"});
  sub.Flag("--json", &command->json, "as JSON, with all figures");
  sub.Flag("--mappings", &command->mappings, "list the mappings as well");
  sub.Flag("--no-statistics", &command->no_statistics,
           "do not ask the allocator for its own figures");
  sub.OnChosen([=] { *action = [=] { return Memory(*command); }; });
}

}  // namespace

const CommandEntry kMemoryCommand = {
    "memory", "all of the resident memory: heap, stacks, files, ...", DescribeMemory};

}  // namespace heapgauge::cli
