#include "core/symbolize/dwarf_lookup.h"

#include <dwarf.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <unordered_map>

#include "core/base/threads.h"
#include "core/symbolize/dwarf/entry_names.h"
#include "core/symbolize/dwarf/line_program.h"
#include "core/symbolize/dwarf/unit_walk.h"

namespace heapgauge {
namespace {

// Steps that one worker may take in all. Real programs need some per byte of DWARF at most; files
// made to keep us busy are left unfinished.
constexpr int64_t kBaseBudget = 200'000'000;
constexpr int64_t kBudgetPerByte = 8;
constexpr size_t kAddressesPerThread = 2000;
constexpr unsigned kMaxThreads = 8;
// DWARF 6's numbers, which compilers use already and elfutils' header does not have.
constexpr uint32_t kCPlusPlus17 = 0x2a;
constexpr uint32_t kCPlusPlus20 = 0x2b;

bool IsCPlusPlus(uint32_t language) {
  return language == DW_LANG_C_plus_plus || language == DW_LANG_C_plus_plus_03 ||
         language == DW_LANG_C_plus_plus_11 || language == DW_LANG_C_plus_plus_14 ||
         language == kCPlusPlus17 || language == kCPlusPlus20;
}

dwarf::Sections SectionsOf(ElfFile* elf) {
  dwarf::Sections sections;
  sections.info = elf->Section(".debug_info");
  sections.abbrev = elf->Section(".debug_abbrev");
  sections.line = elf->Section(".debug_line");
  sections.line_str = elf->Section(".debug_line_str");
  sections.str = elf->Section(".debug_str");
  sections.str_offsets = elf->Section(".debug_str_offsets");
  sections.addr = elf->Section(".debug_addr");
  sections.ranges = elf->Section(".debug_ranges");
  sections.rnglists = elf->Section(".debug_rnglists");
  return sections;
}

}  // namespace

// What one thread has of its own.
struct DwarfLookup::Worker {
  dwarf::AbbrevCache abbrevs;
  dwarf::EntryNames names{&abbrevs};
  dwarf::ScopedNames scoped_names{&abbrevs, &names};
  std::deque<std::string> texts;  // file names
  std::unordered_map<std::string_view, std::string_view> known_texts;
  std::vector<dwarf::SplitUnit> split_units;
  // Of the unit at hand; kept for the next one, as fresh memory is what costs most.
  dwarf::WalkBuffers walk_buffers;
  std::vector<uint64_t> wanted;
  std::vector<dwarf::LineRow> rows;
  std::vector<const dwarf::EntryName*> node_names;
  size_t missing = 0;
  int64_t budget = kBaseBudget;

  std::string_view Keep(std::string text) {
    const auto it = known_texts.find(text);
    if (it != known_texts.end()) return it->second;
    texts.push_back(std::move(text));
    known_texts.emplace(texts.back(), texts.back());
    return texts.back();
  }
};

DwarfLookup::DwarfLookup(ElfFile* elf, ElfFile* alt, std::vector<std::string> directories,
                         const SymbolTable& symbols, StampList* stamps)
    : lowest_code_(elf->lowest_code()), symbols_(symbols) {
  if (alt != nullptr) {
    alt_ = std::make_unique<dwarf::DwarfFile>(SectionsOf(alt), nullptr, false);
  }
  main_ = std::make_unique<dwarf::DwarfFile>(SectionsOf(elf), alt_.get(), false);
  const auto& units = main_->units();
  if (std::any_of(units.begin(), units.end(),
                  [](const dwarf::Unit& unit) { return !unit.dwo_name.empty(); })) {
    split_ = std::make_unique<dwarf::SplitFiles>(elf->path(), std::move(directories),
                                                 main_->sections(), stamps);
  }
}

DwarfLookup::~DwarfLookup() = default;

std::vector<DwarfLookup::Job> DwarfLookup::AssignUnits(
    const std::vector<uint64_t>& addresses) const {
  std::vector<Job> jobs;
  std::vector<const dwarf::Unit*> without_ranges;
  std::vector<bool> taken(addresses.size());
  std::vector<dwarf::CodeRange> ranges;
  int64_t budget = kBaseBudget;
  for (const dwarf::Unit& unit : main_->units()) {
    if (unit.tag != DW_TAG_compile_unit && unit.tag != DW_TAG_skeleton_unit) continue;
    ranges.clear();
    unit.AppendRanges(unit.low, unit.high, unit.ranges, &budget, &ranges);
    if (ranges.empty() && !unit.ranges && !unit.high) without_ranges.push_back(&unit);
    Job job{&unit, {}};
    for (const dwarf::CodeRange& range : ranges) {
      if (range.low < lowest_code_) continue;
      auto it = std::lower_bound(addresses.begin(), addresses.end(), range.low);
      for (; it != addresses.end() && *it < range.high; ++it, --budget) {
        const size_t index = static_cast<size_t>(it - addresses.begin());
        if (taken[index]) continue;  // overlapping units: the first one has it
        taken[index] = true;
        job.indexes.push_back(index);
      }
    }
    if (job.indexes.empty()) continue;
    std::sort(job.indexes.begin(), job.indexes.end());
    jobs.push_back(std::move(job));
  }
  // Large ones first, so that no thread is left alone with one at the end.
  std::sort(jobs.begin(), jobs.end(), [](const Job& a, const Job& b) {
    return a.unit->end - a.unit->offset > b.unit->end - b.unit->offset;
  });
  // Units that do not say where their code is are asked for what no other unit has. They come last
  // and their answers count only where there is none, so they must not run beside others.
  std::vector<size_t> left;
  for (size_t i = 0; i < taken.size(); ++i) {
    if (!taken[i]) left.push_back(i);
  }
  if (!left.empty()) {
    for (const dwarf::Unit* unit : without_ranges) jobs.push_back({unit, {}});
    for (size_t i = jobs.size() - without_ranges.size(); i < jobs.size(); ++i) {
      jobs[i].indexes = left;
    }
  }
  return jobs;
}

void DwarfLookup::NameNodes(const dwarf::Unit& unit, const dwarf::UnitWalk& walk, Worker* worker) {
  std::vector<const dwarf::EntryName*>& names = worker->node_names;
  names.clear();
  std::vector<dwarf::EntryName*> plain;
  names.reserve(walk.node_count());
  const bool has_overloads = IsCPlusPlus(unit.language);
  for (size_t i = 0; i < walk.node_count(); ++i) {
    dwarf::EntryName* name = worker->names.Get(unit, walk.node(static_cast<int32_t>(i)).entry);
    names.push_back(name);
    if (!has_overloads || name->is_linkage || name->is_scoped) continue;
    name->is_scoped = true;
    if (name->declaration.unit != nullptr) plain.push_back(name);
  }
  if (!plain.empty()) worker->scoped_names.NameAll(std::move(plain), &worker->budget);
}

void DwarfLookup::RunJob(const Job& job, const std::vector<uint64_t>& addresses, Worker* worker,
                         FrameLists* results) const {
  const dwarf::Unit* unit = job.unit;
  std::vector<uint64_t>& wanted = worker->wanted;
  wanted.clear();
  wanted.reserve(job.indexes.size());
  for (const size_t index : job.indexes) wanted.push_back(addresses[index]);
  dwarf::LineProgram lines(*job.unit);
  std::vector<dwarf::LineRow>& rows = worker->rows;
  rows.assign(wanted.size(), {});
  lines.Run(wanted, lowest_code_, &worker->budget, rows.data());
  if (!unit->dwo_name.empty() && split_ != nullptr) {
    dwarf::SplitUnit split = split_->Open(*unit);
    if (split.unit != nullptr) {
      unit = split.unit;
      worker->split_units.push_back(std::move(split));
    } else {
      ++worker->missing;
    }
  }
  dwarf::UnitWalk walk(*unit, wanted, lowest_code_, &worker->abbrevs, &worker->walk_buffers);
  walk.Run(&worker->budget);
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (walk.node_of()[i] >= 0) continue;
    if (symbols_.complete() && symbols_.Find(wanted[i]) == nullptr) continue;
    walk.RunThoroughly(&worker->budget);
    break;
  }
  NameNodes(*unit, walk, worker);
  std::vector<std::string_view> paths(lines.file_count());
  const auto path_of = [&](uint32_t file) {
    if (file >= paths.size()) return std::string_view();
    if (paths[file].data() == nullptr) paths[file] = worker->Keep(lines.FilePath(file));
    return paths[file];
  };
  for (size_t i = 0; i < wanted.size(); ++i) {
    std::vector<SourceFrame>& frames = (*results)[job.indexes[i]];
    if (!frames.empty()) continue;
    SourceFrame frame;
    if (rows[i].known) {
      frame.file = path_of(rows[i].file);
      frame.line = rows[i].line;
    }
    int32_t at = walk.node_of()[i];
    if (at < 0) {
      if (!frame.file.empty()) frames.push_back(frame);
      continue;
    }
    size_t depth = 0;
    for (int32_t node = at; node >= 0; node = walk.node(node).parent) ++depth;
    frames.reserve(depth);
    // Innermost first: its line is the address's own, its caller's is where it was inlined.
    while (at >= 0) {
      const dwarf::CodeNode& node = walk.node(at);
      const dwarf::EntryName& name = *worker->node_names[static_cast<size_t>(at)];
      frame.system_name = name.name;
      frame.name = name.scoped;
      frame.declared_line = name.scoped.empty() ? 0 : name.line;
      frame.inlined = node.parent >= 0;
      frames.push_back(frame);
      frame.file = node.call_file == 0 && node.call_line == 0 ? "" : path_of(node.call_file);
      frame.line = node.call_line;
      at = node.parent;
    }
  }
}

FrameLists DwarfLookup::LookUp(const std::vector<uint64_t>& addresses) {
  FrameLists results(addresses.size());
  if (addresses.empty()) return results;
  const std::vector<Job> jobs = AssignUnits(addresses);
  size_t parallel = jobs.size();
  while (parallel > 0 && !jobs[parallel - 1].unit->high && !jobs[parallel - 1].unit->ranges) {
    --parallel;
  }
  const size_t thread_count =
      std::clamp<size_t>(std::min<size_t>(addresses.size() / kAddressesPerThread, parallel / 4), 1,
                         std::clamp(std::thread::hardware_concurrency(), 1u, kMaxThreads));
  std::atomic<size_t> next{0};
  const auto work = [&](Worker* worker) {
    for (size_t i = next++; i < parallel; i = next++) RunJob(jobs[i], addresses, worker, &results);
  };
  const size_t first = workers_.size();
  for (size_t i = 0; i < thread_count; ++i) {
    workers_.push_back(std::make_unique<Worker>());
    workers_.back()->budget += static_cast<int64_t>(main_->sections().info.size()) * kBudgetPerByte;
  }
  {
    std::vector<std::thread> threads;
    for (size_t i = 1; i < thread_count; ++i) {
      threads.push_back(TryThread(work, workers_[first + i].get()));
    }
    work(workers_[first].get());
    for (std::thread& thread : threads) {
      if (thread.joinable()) thread.join();
    }
  }
  for (size_t i = parallel; i < jobs.size(); ++i) {
    RunJob(jobs[i], addresses, workers_[first].get(), &results);
  }
  for (size_t i = first; i < workers_.size(); ++i) missing_split_units_ += workers_[i]->missing;
  return results;
}

}  // namespace heapgauge
