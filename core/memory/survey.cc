#include "core/memory/survey.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/text.h"
#include "core/memory/ownership.h"
#include "core/os/memory_maps.h"
#include "core/os/process.h"
#include "core/trace/file/live_trace.h"
#include "core/trace/file/trace_file.h"

namespace heapgauge {
namespace {

// The allocator's word about itself is used for so long.
constexpr uint64_t kFreshNs = 3'000'000'000;

// Sums over the sampled blocks. Without a page map all of a block counts as in memory.
LiveFigures FiguresOf(const GaugeMemory& gauge, PageMap* pages) {
  LiveFigures figures;
  figures.interval = gauge.recording.interval_in_force;
  std::vector<const wire::LiveRecord*> records;
  for (const wire::LiveRecord& record : gauge.live) records.push_back(&record);
  std::sort(records.begin(), records.end(),
            [](const auto* a, const auto* b) { return a->address < b->address; });
  for (const wire::LiveRecord* record : records) {
    const uint64_t size = std::max<uint64_t>(record->size, 1);
    const SampleWeight weight = WeightOf(record->size, record->interval);
    const double rounding = static_cast<double>(record->usable - record->size) * weight.objects;
    figures.bytes.Add(BytesEstimate(record->size, weight));
    figures.objects += weight.objects;
    figures.rounding += rounding;
    ++figures.samples;
    double share = 1;
    double rounding_share = 1;
    const uint64_t end = record->address + record->size;
    if (const auto known = pages->ResidentIn(record->address, record->address + size)) {
      share = static_cast<double>(*known) / static_cast<double>(size);
    }
    if (record->usable > record->size) {
      if (const auto known = pages->ResidentIn(end, record->address + record->usable)) {
        rounding_share =
            static_cast<double>(*known) / static_cast<double>(record->usable - record->size);
      }
    }
    figures.resident += weight.bytes * share;
    figures.rounding_resident += rounding * rounding_share;
  }
  return figures;
}

// What the program can have written to of anonymous memory that it mapped itself.
uint64_t RecordedBytes(const std::vector<wire::MappingRecord>& mappings) {
  uint64_t bytes = 0;
  for (const wire::MappingRecord& m : mappings) {
    const bool counts = (m.flags & wire::kMappingOfAllocator) == 0 &&
                        (m.protection & PROT_WRITE) != 0 && (m.map_flags & MAP_ANONYMOUS) != 0 &&
                        (m.map_flags & MAP_SHARED) == 0;
    if (counts) bytes += std::min(m.length, (uint64_t{1} << 56) - bytes);
  }
  return bytes;
}

// Without overlaps, sorted: of two that overlap, the younger one is right.
std::vector<RecordedRange> RecordedRanges(const std::vector<wire::MappingRecord>& mappings) {
  std::vector<uint32_t> order(mappings.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return std::pair(mappings[a].address, mappings[a].birth_ns) <
           std::pair(mappings[b].address, mappings[b].birth_ns);
  });
  std::vector<RecordedRange> ranges;
  constexpr uint64_t kPageBytes = 4096;
  for (const uint32_t i : order) {
    const wire::MappingRecord& m = mappings[i];
    const uint64_t end = (m.address + m.length + kPageBytes - 1) / kPageBytes * kPageBytes;
    if (!ranges.empty() && ranges.back().range.end > m.address) {
      ranges.back().range.end = m.address;
      if (ranges.back().range.size() == 0) ranges.pop_back();
    }
    ranges.push_back({{m.address, end}, i, (m.flags & wire::kMappingOfAllocator) != 0});
  }
  return ranges;
}

void SumFilePages(const MemorySurvey& survey, uint64_t* program_clean, uint64_t* program_dirty,
                  uint64_t* clean_file) {
  for (const Piece& piece : survey.pieces) {
    const MappingUsage& m = survey.smaps.mappings[piece.mapping];
    if (piece.owner == Owner::kProgram) {
      const uint64_t clean = m.inode == 0 ? 0 : std::min(m.clean(), piece.resident);
      *program_clean += clean;
      *program_dirty += piece.resident - clean;
    }
    // Clean pages of shared memory have nowhere to go but swap.
    if (m.inode != 0 && (piece.owner == Owner::kProgram || piece.owner == Owner::kFile)) {
      const uint64_t file = m.resident - std::min(m.anonymous, m.resident);
      *clean_file += std::min(m.clean(), file);
    }
  }
}

void UseFreshStatistics(const GaugeMemory& gauge, MemorySurvey* survey) {
  survey->statistics = gauge.statistics;
  if (!gauge.statistics) return;
  const uint64_t now = gauge.now_ns != 0 ? gauge.now_ns : survey->time_ns;
  const uint64_t at = gauge.statistics->time_ns;
  survey->statistics_are_fresh = std::max(now, at) - std::min(now, at) <= kFreshNs;
}

void LookCloser(const GaugeMemory& gauge, const std::string& directory, MemorySurvey* survey) {
  auto smaps = ReadSmaps(directory + "/smaps");
  if (!smaps) {
    survey->notes.push_back("the mappings may not be read (" + smaps.error().message +
                            "), so stacks, free memory and the rest are not told apart; run as the "
                            "program's user or as root");
    return;
  }
  survey->smaps = *std::move(smaps);
  const std::vector<MappingUsage>& mappings = survey->smaps.mappings;
  PageMap pages(OpenSource(directory + "/pagemap"));
  OwnershipInput input;
  const StackPointers pointers = ReadStackPointers(directory);
  StackMappings stacks = FindStacks(mappings, pointers);
  input.is_stack = std::move(stacks.is_stack);
  for (const wire::LiveRecord& record : gauge.live) input.blocks.push_back(record.address);
  std::sort(input.blocks.begin(), input.blocks.end());
  input.zero_data = FindZeroData(mappings, directory + "/root");
  input.agent = gauge.agent_ranges;
  input.recorded = RecordedRanges(gauge.mappings);
  input.memory_devices = MemoryFileSystems(directory);
  input.gauge_path = gauge.path;
  struct stat st {};
  if (stat(gauge.path.c_str(), &st) == 0) input.gauge_inode = st.st_ino;
  bool heap_is_complete = false;
  if (gauge.allocator == wire::Allocator::kGlibc) {
    const auto memory = OpenSource(directory + "/mem");
    GlibcRanges ranges;
    if (memory != nullptr) ranges = FindGlibcRanges(mappings, input.blocks, *memory);
    if (!ranges.complete) {
      survey->notes.push_back(
          "the program's memory may not be read, so mapped blocks of glibc are known by samples "
          "and statistics alone");
    }
    if (!ranges.complete) ranges.arenas = GuessGlibcArenas(mappings);
    heap_is_complete = ranges.complete;
    input.allocator = std::move(ranges.arenas);
    input.allocator.insert(input.allocator.end(), ranges.chunks.begin(), ranges.chunks.end());
    input.allocator = Merged(std::move(input.allocator));
  }
  survey->pieces = FindOwners(mappings, input, &pages);
  for (const Piece& piece : survey->pieces) {
    if (piece.owner == Owner::kStack && piece.resident != 0) ++survey->stacks;
  }
  AccountingInput accounting;
  accounting.pieces = survey->pieces;
  accounting.not_listed_resident = survey->smaps.not_listed_resident;
  accounting.live = FiguresOf(gauge, &pages);
  accounting.allocator = gauge.allocator;
  if (survey->statistics_are_fresh) accounting.statistics = survey->statistics;
  accounting.heap_is_complete = heap_is_complete;
  accounting.agent_private_bytes = gauge.recording.private_bytes;
  accounting.agent_ranges_known = gauge.agent_ranges_known;
  survey->accounting = Account(accounting);
  SumFilePages(*survey, &survey->program_clean, &survey->program_dirty, &survey->clean_file);
  for (const MappingUsage& m : mappings) survey->lazily_freed += m.lazily_freed;
  if (gauge.recording.traced && !gauge.live_is_whole) {
    survey->notes.push_back(
        "the process is traced, not sampled, and its trace was not found: its live heap is part of "
        "what is called free here");
  }
  if (!pages.known()) {
    survey->notes.push_back(
        "the page map may not be read: blocks that were never written to count as resident");
  }
}

// The last that is known of a process that is gone, or of a copy.
Status Remember(const GaugeMemory& gauge, MemorySurvey* survey) {
  if (gauge.memory && gauge.memory->resident_bytes != 0) {
    const wire::ProcessMemory& m = *gauge.memory;
    survey->time_ns = m.time_ns;
    survey->status.resident = m.resident_bytes;
    survey->status.anonymous = m.anonymous_bytes;
    survey->status.file = m.file_bytes;
    survey->status.shared = m.shared_bytes;
    survey->status.swapped = m.swapped_bytes;
    survey->status.address_space = m.address_space_bytes;
    survey->status.address_space_limit = m.address_space_limit;
    if (m.cgroup_bytes != 0) {
      CgroupMemory cgroup;
      cgroup.usage = m.cgroup_bytes;
      cgroup.limit = m.cgroup_limit;
      survey->cgroup = cgroup;
    }
    survey->time_note = "the last that was noted of the process";
    return {};
  }
  for (auto it = gauge.timeline.rbegin(); it != gauge.timeline.rend(); ++it) {
    if (it->resident_bytes == 0) continue;
    survey->time_ns = it->time_ns;
    survey->status.resident = it->resident_bytes;
    survey->time_note = "the last point of its timeline with resident memory";
    return {};
  }
  const bool copy = gauge.recording.state == RecordingState::kSnapshot;
  return Fail(ErrorCode::kUnavailable,
              "'" + Printable(gauge.path) +
                  "' does not tell how much memory the process had, and " +
                  (copy ? "it is a copy; ask for the process itself: heapgauge memory " +
                              std::to_string(gauge.recording.pid)
                        : std::string("the process is gone; heapgauge run notes it every second, "
                                      "and dumps have it")));
}

}  // namespace

Result<MemorySurvey> SurveyMemory(const GaugeMemory& gauge, const SurveyOptions& options) {
  MemorySurvey survey;
  survey.recording = gauge.recording;
  survey.allocator = gauge.allocator;
  survey.records_mappings = gauge.records_mappings;
  survey.mappings = gauge.mappings;
  survey.growth = GrowthOf(gauge.timeline);
  survey.live = gauge.recording.state == RecordingState::kLive;
  const std::string directory = ProcessDirectory(gauge.recording.pid);
  if (survey.live) {
    const auto status = ReadProcessStatus(directory);
    // It has ended between the two looks.
    if (!status || status->resident == 0) survey.live = false;
    if (status) survey.status = *status;
  }
  PageMap no_pages;
  if (!survey.live) {
    HG_TRY(Remember(gauge, &survey));
  } else {
    survey.time_ns = gauge.now_ns;
    survey.cgroup = ReadCgroupMemory(gauge.recording.pid);
    survey.host = ReadHostMemory();
  }
  if (options.use_statistics) UseFreshStatistics(gauge, &survey);
  if (survey.live && survey.status.resident <= options.full_up_to) {
    LookCloser(gauge, directory, &survey);
  }
  if (survey.accounting.resident == 0) {
    survey.accounting = AccountCoarsely(
        survey.status, FiguresOf(gauge, &no_pages), gauge.allocator,
        survey.statistics_are_fresh ? survey.statistics : std::nullopt,
        gauge.recording.private_bytes, gauge.recording.file_bytes, RecordedBytes(gauge.mappings));
  }
  return survey;
}

void UseTracedBlocks(GaugeMemory* gauge) {
  if (!gauge->recording.traced || gauge->recording.state != RecordingState::kLive) return;
  const std::string path = trace::FindLiveTrace(gauge->path);
  if (path.empty()) return;
  trace::HaveTraceWritten(gauge->path);
  const auto trace = trace::TraceFile::Open(path);
  if (!trace) return;
  std::vector<wire::LiveRecord> live;
  const Status read = (*trace)->ForEachSurvivor([&](const trace::Block& block) {
    if (block.is_mapping || block.address >= kAddressSpace) return;
    wire::LiveRecord& record = live.emplace_back();
    record.address = block.address;
    record.size = block.size;
    record.interval = 0;  // no sample
    record.birth_ns = block.birth_ns;
    record.usable = block.size + block.slack;
  });
  if (!read) return;
  gauge->live = std::move(live);
  gauge->live_is_whole = true;
  gauge->recording.interval = 0;
  gauge->recording.interval_in_force = 0;
  gauge->recording.samples = gauge->recording.live_samples = gauge->live.size();
}

}  // namespace heapgauge
