#include "core/formats/heaptrack/heaptrack_import.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "core/base/text.h"
#include "core/formats/heaptrack/heaptrack_names.h"
#include "core/formats/heaptrack/heaptrack_parser.h"
#include "core/formats/heaptrack/live_blocks.h"
#include "core/formats/text/scan.h"

namespace heapgauge {
namespace {

constexpr uint64_t kMaxPc = 0xffffffffffff;
constexpr uint64_t kMemoryPoints = 1 << 14;  // after so many, half as often

wire::ModuleRecord ModuleRecord(const std::string& path, uint64_t start, uint64_t end,
                                uint64_t bias, const std::string& build_id) {
  wire::ModuleRecord record{};
  record.start = std::max<uint64_t>(start, 1);  // 0 would be a record that is not written yet
  record.end = std::max(end, record.start + 1);
  record.load_bias = bias;
  // Hexadecimal, two digits for a byte.
  while (record.build_id_bytes < sizeof record.build_id &&
         2 * record.build_id_bytes + 1 < build_id.size()) {
    const char* digits = build_id.data() + 2 * record.build_id_bytes;
    record.build_id[record.build_id_bytes++] =
        static_cast<uint8_t>(HexDigit(digits[0]) << 4 | (HexDigit(digits[1]) & 15));
  }
  path.copy(record.path, sizeof record.path - 1);
  if (path.size() >= sizeof record.path) record.flags = wire::kModulePathCut;
  return record;
}

class TraceMaker final : public HeaptrackVisitor {
 public:
  TraceMaker(const HeaptrackImportOptions& options, trace::TraceWriter* writer)
      : options_(options), writer_(writer) {
    writer_->SetThread(0, {0, "all threads", 0});
  }

  void Program(std::string_view path) override { result_.facts.recording.program = path; }
  void Command(std::string_view line) override {
    result_.facts.recording.command_line = WordsOf(line, " ");
  }
  void Pages(uint64_t page_bytes, uint64_t /*pages*/) override {
    if (page_bytes > 0 && page_bytes <= uint64_t{1} << 30) page_bytes_ = page_bytes;
  }

  void ClearModules() override { loaded_.Clear(); }
  void AddModule(std::string_view name, uint64_t base,
                 const std::vector<std::pair<uint64_t, uint64_t>>& segments) override {
    const size_t known = loaded_.modules().size();
    loaded_.Add(name.empty() ? std::string_view(result_.facts.recording.program) : name, base,
                segments);
    if (loaded_.modules().size() == known) return;
    const Module& module = loaded_.modules().back();
    const std::string id = options_.build_id_of ? options_.build_id_of(module.path) : "";
    writer_->AddModule(static_cast<uint32_t>(known),
                       ModuleRecord(module.path, module.start, module.end, base, id));
  }

  Status String(std::string_view text) override {
    strings_.emplace_back(text);
    return {};
  }

  Status Instruction(uint64_t address, uint32_t module,
                     const std::vector<HeaptrackFrame>& frames) override {
    const uint64_t pc = wire::PackPc(address, NamedModule(module, address & kMaxPc));
    names_.clear();
    for (const HeaptrackFrame& frame : frames) {
      names_.push_back({Text(frame.function), Text(frame.file), frame.line});
    }
    if (names_.empty()) names_.emplace_back();
    for (trace::TraceWriter::FrameName& name : names_) {
      if (!name.function.empty()) continue;
      // Nobody can find the name later: where the object was loaded is not told.
      name.function = fmt::format("{}{}{:#x}", BaseName(Text(module)),
                                  Text(module).empty() ? "" : " ", address);
    }
    writer_->AddFrames(pc, true, names_);
    instructions_.push_back(pc);
    return {};
  }

  Status Stack(uint64_t instruction, uint32_t parent, bool is_raw) override {
    uint64_t pc = 0;
    if (is_raw) {
      const ModuleId module = loaded_.At(instruction);
      pc = wire::PackPc(instruction, module == kNone ? 0 : module + 1);
    } else {
      pc = instructions_[instruction - 1];
    }
    numbers_.push_back(0);
    writer_->AddNode(static_cast<uint32_t>(numbers_.size()),
                     {pc, parent, is_raw ? 0 : wire::kNodeExactPc});
    return {};
  }

  Status Allocate(const HeaptrackBlock& from) override {
    const LiveHeaptrackBlock block{result_.allocations, now_ns_, from.address, from.size,
                                   StackOf(from.stack)};
    LiveHeaptrackBlock replaced;
    if (!from.has_address()) {
      live_.AddByPair(from.pair, block);
    } else if (live_.AddByAddress(block, &replaced)) {
      Die(replaced);  // it must be gone, or its address could not be handed out
    }
    ++result_.allocations;
    after_birth_ = true;
    writer_->Allocate(BlockOf(block));
    return {};
  }

  Status Free(const HeaptrackBlock& from, bool temporary) override {
    LiveHeaptrackBlock block;
    bool several = false;
    const bool found = from.has_address() ? live_.TakeByAddress(from.address, &block)
                                          : live_.TakeByPair(from.pair, temporary && after_birth_,
                                                             &block, &several);
    after_birth_ = false;
    if (!found) {
      ++unknown_frees_;
      return {};
    }
    if (several) ++result_.guessed_frees;
    ++result_.frees;
    Die(block);
    return {};
  }

  Status Time(uint64_t milliseconds) override {
    now_ns_ = std::max(now_ns_, MillisecondsToNs(milliseconds));
    if (options_.progress != nullptr) {
      options_.progress->Report("importing", result_.allocations + result_.frees, 0, "events");
    }
    return {};
  }

  void Resident(uint64_t pages) override {
    const uint64_t seen = memory_seen_++;
    if (seen % (uint64_t{1} << std::min<uint64_t>(memory_written_ / kMemoryPoints, 40)) != 0)
      return;
    trace::MemoryPoint point;
    point.time_ns = now_ns_;
    if (__builtin_mul_overflow(pages, page_bytes_, &point.resident_bytes)) return;
    writer_->AddMemory(point);
    ++memory_written_;
  }

  Result<HeaptrackImport> Finish(const HeaptrackOutcome& outcome) {
    for (uint32_t i = 0; i < named_.size(); ++i) WriteNamed(i);
    if (outcome.kind == HeaptrackKind::kInterpreted && outcome.file_version > 0) {
      writer_->AddMarker({0,
                          "imported from an interpreted heaptrack file: which of several blocks "
                          "with the same size and stack was freed is a guess"});
    }
    const std::vector<LiveHeaptrackBlock> survivors = live_.All();
    writer_->BeginSurvivors();
    for (const LiveHeaptrackBlock& block : survivors) writer_->AddSurvivor(BlockOf(block));
    result_.outcome = outcome;
    result_.live = survivors.size();
    trace::Facts& facts = result_.facts;
    facts.recording.state = RecordingState::kEnded;
    // An interpreted file has the command alone.
    if (facts.recording.program.empty() && !facts.recording.command_line.empty()) {
      facts.recording.program = facts.recording.command_line.front();
    }
    facts.recording.duration_ns = now_ns_;
    facts.unknown_frees = outcome.unknown_frees + unknown_frees_;
    facts.missed_frees = outcome.missed_frees;
    facts.only_blocks = true;
    facts.complete = true;
    HG_TRY(writer_->Finish(facts));
    return std::move(result_);
  }

 private:
  const std::string& Text(uint32_t number) const {
    static const std::string* const kEmpty = new std::string;
    return number == 0 ? *kEmpty : strings_[number - 1];
  }

  // The module of an interpreted file by its name, as wire::NodeRecord has it. Its range is that of
  // the addresses that were seen in it.
  uint32_t NamedModule(uint32_t name, uint64_t pc) {
    if (name == 0) return 0;
    const auto [it, is_new] = by_name_.try_emplace(name, static_cast<uint32_t>(named_.size()));
    if (is_new) {
      if (named_.size() >= 65000) return 0;
      named_.push_back({Text(name), pc, pc});
      WriteNamed(it->second);
    }
    if (it->second >= named_.size()) return 0;
    Named& module = named_[it->second];
    module.first = std::min(module.first, pc);
    module.last = std::max(module.last, pc);
    return it->second + 1;
  }
  void WriteNamed(uint32_t index) {
    const Named& module = named_[index];
    const uint64_t start = module.first == 0 ? 0 : module.first - 1;
    writer_->AddModule(index, ModuleRecord(module.path, start, module.last + 1, start, ""));
  }

  // Stacks that allocate get numbers of their own, so that there are no gaps.
  uint32_t StackOf(uint32_t stack) {
    if (stack == 0) return 0;
    uint32_t& number = numbers_[stack - 1];
    if (number == 0) {
      number = ++stacks_;
      writer_->AddStack(number, stack, 0, 0);
    }
    return number;
  }

  static trace::Block BlockOf(const LiveHeaptrackBlock& from) {
    trace::Block block;
    block.number = from.number;
    block.birth_ns = from.birth_ns;
    block.address = from.address;
    block.size = from.size;
    block.stack = from.stack;
    return block;
  }

  void Die(const LiveHeaptrackBlock& from) {
    trace::Block block = BlockOf(from);
    block.death_ns = now_ns_;
    block.death_thread = 0;
    block.distance = static_cast<uint32_t>(
        std::min<uint64_t>(result_.allocations - from.number - 1, trace::kForeign - 1));
    writer_->Free(block);
  }

  struct Named {
    std::string path;
    uint64_t first = 0;
    uint64_t last = 0;
  };

  const HeaptrackImportOptions& options_;
  trace::TraceWriter* writer_;
  HeaptrackImport result_;
  HeaptrackModules loaded_;  // of raw files
  std::vector<std::string> strings_;
  std::vector<uint64_t> instructions_;  // of interpreted files
  std::vector<Named> named_;            // modules of interpreted files
  std::unordered_map<uint32_t, uint32_t> by_name_;
  std::vector<trace::TraceWriter::FrameName> names_;
  std::vector<uint32_t> numbers_;  // of stacks in the trace; 0 none yet
  uint32_t stacks_ = 0;
  LiveBlocks live_;
  bool after_birth_ = false;  // the last event was an allocation
  uint64_t page_bytes_ = 4096;
  uint64_t now_ns_ = 0;
  uint64_t unknown_frees_ = 0;
  uint64_t memory_seen_ = 0;
  uint64_t memory_written_ = 0;
};

}  // namespace

Result<HeaptrackImport> ImportHeaptrack(ByteStream* stream, const std::string& name,
                                        const HeaptrackImportOptions& options,
                                        trace::TraceWriter* writer) {
  TraceMaker maker(options, writer);
  HG_ASSIGN(const HeaptrackOutcome outcome, ReadHeaptrackFile(stream, name, &maker));
  return maker.Finish(outcome);
}

}  // namespace heapgauge
