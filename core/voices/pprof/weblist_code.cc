#include "core/voices/pprof/weblist_code.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>

#include "core/base/numbers.h"
#include "core/base/regex.h"
#include "core/source/object_code.h"
#include "core/source/source_files.h"
#include "core/symbolize/demangle_names.h"
#include "core/symbolize/module_names.h"
#include "core/voices/pprof/frame_filter.h"
#include "core/voices/pprof/nodes.h"

namespace heapgauge::pprof {
namespace {

// How much code around an address is disassembled, and how many stretches at most.
constexpr uint64_t kAround = 500;
constexpr size_t kMostStretches = 25;

struct CodeFrame {
  std::string function;  // as shown
  std::string file;
  int64_t line = 0;
};

struct Weight {
  int64_t flat = 0;
  int64_t cum = 0;
};

struct Stretch {
  uint64_t begin = 0;
  uint64_t end = 0;
  ModuleId module = kNone;
  int64_t flat = 0;
};

std::string CanonicalFile(std::string_view file) {
  for (const std::string_view prefix : {"/proc/self/cwd/", "./"}) {
    if (file.starts_with(prefix)) file.remove_prefix(prefix.size());
  }
  return CleanPath(file);
}

class Finder {
 public:
  Finder(const ReportInput& input, const Regex& regex)
      : input_(input), profile_(input.profile), regex_(regex), objects_(input.profile) {
    for (const Module& module : profile_.modules)
      next_made_up_ = std::max(next_made_up_, module.end);
  }

  WeblistCode Find() {
    CountAndMark();
    std::vector<Stretch> stretches = FindStretches();
    std::sort(stretches.begin(), stretches.end(),
              [](const Stretch& a, const Stretch& b) { return a.flat > b.flat; });
    if (stretches.size() > kMostStretches) {
      code_.troubles.push_back("Only the " + std::to_string(kMostStretches) +
                               " weightiest stretches of code are shown.");
      stretches.resize(kMostStretches);
    }
    for (const Stretch& stretch : stretches) AddStretch(stretch);
    AddWeights();
    return std::move(code_);
  }

  bool nothing_matched() const { return interest_.empty(); }

 private:
  // Sums up figures by address, and notes functions that match with where they are.
  void CountAndMark() {
    const std::optional<uint64_t> wanted = AddressOfPattern(regex_.pattern());
    FrameMatcher matcher(profile_, regex_);
    std::vector<uint64_t> address_of(profile_.locations.size());
    std::vector<uint8_t> in_use(profile_.locations.size());
    std::vector<Weight> weights = CountLocations(&in_use);
    for (LocationId id = 0; id < address_of.size(); ++id) {
      if (in_use[id] == 0) continue;
      const Location& location = profile_.locations[id];
      uint64_t address = location.lookup_address();
      if (address == 0) address = next_made_up_++;
      Weight& weight = weights_[address];
      weight.flat = WrapAdd(weight.flat, weights[id].flat);
      weight.cum = WrapAdd(weight.cum, weights[id].cum);
      const auto frames = FramesOf(profile_, location);
      if (wanted && address == *wanted) {
        if (!frames.empty()) Mark(address, id, frames.back());
        continue;
      }
      const bool module_matches = matcher.MatchesModule(location.module);
      for (size_t i = 0; i < frames.size(); ++i) {
        const bool match = matcher.MatchesFunction(frames[i].function) ||
                           regex_.Matches(profile_.functions[frames[i].function].system_name);
        if ((i == 0 && module_matches) || match) Mark(address, id, frames[i]);
      }
    }
  }

  // The figures of each location. One that is on a stack several times counts each time, as every
  // line of it is shown.
  std::vector<Weight> CountLocations(std::vector<uint8_t>* in_use) const {
    std::vector<Weight> nodes(profile_.nodes.size());
    for (RowId row = 0; row < profile_.rows.size(); ++row) {
      const NodeId leaf = profile_.rows[row].leaf;
      if (leaf == kNone) continue;
      int64_t value = profile_.value(row, input_.type);
      if (input_.config().mean) value = MeanOf(value, profile_.value(row, 0));
      nodes[leaf].flat = WrapAdd(nodes[leaf].flat, value);
      nodes[leaf].cum = WrapAdd(nodes[leaf].cum, value);
      (*in_use)[profile_.nodes[leaf].location] = 1;
    }
    std::vector<Weight> weights(profile_.locations.size());
    std::vector<uint8_t> used(profile_.nodes.size());
    for (const Row& row : profile_.rows) {
      if (row.leaf != kNone) used[row.leaf] = 1;
    }
    for (NodeId id = static_cast<NodeId>(nodes.size()); id-- > 0;) {
      if (used[id] == 0) continue;
      const Node& node = profile_.nodes[id];
      (*in_use)[node.location] = 1;
      Weight& weight = weights[node.location];
      weight.flat = WrapAdd(weight.flat, nodes[id].flat);
      weight.cum = WrapAdd(weight.cum, nodes[id].cum);
      if (node.parent == kNone) continue;
      used[node.parent] = 1;
      nodes[node.parent].cum = WrapAdd(nodes[node.parent].cum, nodes[id].cum);
    }
    return weights;
  }

  void Mark(uint64_t address, LocationId location, const Frame& frame) {
    const Function& function = profile_.functions[frame.function];
    interest_.insert(function.name);
    if (!function.system_name.empty()) {
      interest_.insert(function.system_name);
      shown_names_[function.system_name] = function.name;
    }
    marked_.emplace(address, location);
  }

  // Stretches of code around marked addresses. Addresses of modules that cannot be read are put in
  // place at once.
  std::vector<Stretch> FindStretches() {
    std::vector<Stretch> stretches;
    for (const auto& [address, id] : marked_) {
      const ModuleId module = profile_.locations[id].module;
      if (module == kNone || objects_.Open(module).elf == nullptr) {
        AddUnreadable(address, id);
        continue;
      }
      const Module& facts = profile_.modules[module];
      const uint64_t below = address < kAround ? 0 : address - kAround;
      const uint64_t above = address > ~kAround ? ~uint64_t{0} : address + kAround;
      // A damaged profile may have addresses outside of their module.
      const uint64_t begin = std::min(address, std::max(facts.start, below));
      const uint64_t end = std::max(address + 1, std::min(facts.end, above));
      const int64_t flat = weights_[address].flat;
      if (!stretches.empty() && stretches.back().module == module &&
          begin <= stretches.back().end) {
        stretches.back().end = end;
        stretches.back().flat = WrapAdd(stretches.back().flat, flat);
      } else {
        stretches.push_back({begin, end, module, flat});
      }
    }
    return stretches;
  }

  void AddUnreadable(uint64_t address, LocationId id) {
    std::vector<CodeFrame> frames;
    for (const Frame& frame : FramesOf(profile_, profile_.locations[id])) {
      const Function& function = profile_.functions[frame.function];
      frames.push_back({function.name, function.file, frame.line});
    }
    CodeInstruction instruction;
    instruction.address = instruction.object_address = address;
    AddInstruction(std::move(instruction), frames, "");
  }

  void AddStretch(const Stretch& stretch) {
    const ObjectCode::File& file = objects_.Open(stretch.module);
    const Module& module = profile_.modules[stretch.module];
    auto code = Disassemble(file.elf->path(), stretch.begin - file.bias,
                            stretch.end - file.bias - 1, input_.config().intel_syntax);
    if (!code || code->empty()) {
      std::string trouble = code ? module.path + ": no code there" : code.error().message;
      if (std::find(code_.troubles.begin(), code_.troubles.end(), trouble) ==
          code_.troubles.end()) {
        code_.troubles.push_back(std::move(trouble));
      }
      for (auto at = marked_.lower_bound(stretch.begin);
           at != marked_.end() && at->first < stretch.end; ++at) {
        AddUnreadable(at->first, at->second);
      }
      return;
    }
    // Objdump may print an address twice where sections overlap.
    std::vector<Instruction> unique;
    for (Instruction& instruction : *code) {
      if (unique.empty() || instruction.address > unique.back().address) {
        unique.push_back(std::move(instruction));
      }
    }
    AddCode(unique, stretch.module);
  }

  void AddCode(const std::vector<Instruction>& code, ModuleId module) {
    const uint64_t bias = objects_.Open(module).bias;
    const std::vector<std::vector<CodeFrame>> frames = FramesOfCode(code, module);
    // An instruction without a line belongs to the one before, if that is near.
    constexpr uint64_t kNear = 32;
    const std::vector<CodeFrame>* last = nullptr;
    uint64_t last_address = 0;
    for (size_t i = 0; i < code.size(); ++i) {
      CodeInstruction instruction;
      instruction.address = code[i].address + bias;
      instruction.object_address = code[i].address;
      if (i + 1 < code.size()) instruction.length = code[i + 1].address - code[i].address;
      instruction.text = code[i].text;
      const std::vector<CodeFrame>* own = &frames[i];
      if (!own->empty()) {
        instruction.file = own->front().file;
        instruction.line = own->front().line;
      }
      if (!own->empty() && own->front().line != 0) {
        last = own;
        last_address = code[i].address;
      } else if (last != nullptr && code[i].address - last_address <= kNear) {
        own = last;
      }
      AddInstruction(std::move(instruction), *own, profile_.modules[module].build_id);
    }
  }

  // Debug information of a module, opened once; null if there is none.
  ModuleSymbols* SymbolsOf(ModuleId id) {
    const auto [at, added] = symbols_.try_emplace(id);
    if (!added) return at->second.get();
    SymbolizeOptions options;
    if (profile_.recording.state == RecordingState::kLive) options.pid = profile_.recording.pid;
    // The very file that is disassembled.
    Module module = profile_.modules[id];
    module.path = objects_.Open(id).elf->path();
    module.build_id = objects_.Open(id).elf->build_id();
    auto symbols = ModuleSymbols::Open(module, options, &stamps_);
    if (symbols) at->second = *std::move(symbols);
    return at->second.get();
  }

  std::vector<std::vector<CodeFrame>> FramesOfCode(const std::vector<Instruction>& code,
                                                   ModuleId module) {
    std::vector<std::vector<CodeFrame>> result(code.size());
    FrameLists lists;
    if (ModuleSymbols* symbols = SymbolsOf(module); symbols != nullptr) {
      std::vector<uint64_t> addresses;
      for (const Instruction& instruction : code) addresses.push_back(instruction.address);
      lists = symbols->LookUp(addresses);
    }
    for (size_t i = 0; i < code.size(); ++i) {
      if (i < lists.size()) {
        for (const SourceFrame& frame : lists[i]) {
          const std::string system_name(frame.system_name);
          result[i].push_back({system_name, std::string(frame.file), frame.line});
        }
      }
      if (result[i].empty()) {
        result[i].push_back({code[i].function, code[i].file, code[i].line});
      }
    }
    return result;
  }

  // A linker's name as the profile shows it.
  const std::string& ShownName(const std::string& name) const {
    const auto at = shown_names_.find(name);
    return at == shown_names_.end() ? name : at->second;
  }

  // Debug information and profile may differ in how much of a name they show.
  bool IsOfInterest(const std::string& name) {
    if (name.empty()) return false;
    const auto [at, added] = known_.try_emplace(name, false);
    if (added) {
      at->second = interest_.contains(name) || interest_.contains(ShownName(name)) ||
                   interest_.contains(DemangledName(name, DemangleMode::kFull)) ||
                   interest_.contains(DemangledName(name, DemangleMode::kDefault));
    }
    return at->second;
  }

  // Puts an instruction under the line of each function of interest that it is in.
  void AddInstruction(CodeInstruction instruction, const std::vector<CodeFrame>& frames,
                      const std::string& build_id) {
    const uint64_t address = instruction.address;
    code_.instructions[address] = std::move(instruction);
    for (size_t i = 0; i < frames.size(); ++i) {
      const CodeFrame& frame = frames[i];
      if (!IsOfInterest(frame.function)) continue;
      CodeFile& file = code_.files[CanonicalFile(frame.file)];
      file.build_id = build_id;
      PlacedInstruction placed;
      placed.address = address;
      for (size_t j = i; j-- > 0;) placed.calls.push_back({frames[j].file, frames[j].line});
      file.lines[frame.line].push_back(std::move(placed));
      std::string name = ShownName(frame.function);
      if (name == frame.function) name = DemangledName(name, DemangleMode::kFull);
      file.functions.try_emplace(frame.line, std::move(name));
    }
  }

  // What was sampled in the middle of an instruction belongs to it.
  void AddWeights() {
    for (auto& [address, instruction] : code_.instructions) {
      for (auto at = weights_.lower_bound(address);
           at != weights_.end() && at->first - address < instruction.length; ++at) {
        instruction.flat = WrapAdd(instruction.flat, at->second.flat);
        instruction.cum = WrapAdd(instruction.cum, at->second.cum);
      }
    }
  }

  const ReportInput& input_;
  const Profile& profile_;
  const Regex& regex_;
  ObjectCode objects_;
  StampList stamps_;
  std::map<ModuleId, std::unique_ptr<ModuleSymbols>> symbols_;
  uint64_t next_made_up_ = 1;  // addresses for locations that have none
  std::map<uint64_t, Weight> weights_;
  std::map<uint64_t, LocationId> marked_;
  std::set<std::string> interest_;
  std::map<std::string, std::string> shown_names_;  // by the linker's name
  std::map<std::string, bool> known_;
  WeblistCode code_;
};

}  // namespace

std::vector<CodeFunction> WeblistCode::FunctionsOf(const CodeFile& file) const {
  // Lines of one function that are near each other are one stretch.
  constexpr int64_t kNear = 20;
  constexpr int64_t kAroundLines = 5;
  std::vector<CodeFunction> result;
  for (const auto& [line, placed] : file.lines) {
    CodeFunction function{file.functions.at(line), line, line + 1, 0, 0};
    for (const PlacedInstruction& place : placed) {
      const CodeInstruction& instruction = instructions.at(place.address);
      function.flat = WrapAdd(function.flat, instruction.flat);
      function.cum = WrapAdd(function.cum, instruction.cum);
    }
    if (!result.empty() && line - result.back().end < kNear &&
        result.back().name == function.name) {
      result.back().end = line + 1;
      result.back().flat = WrapAdd(result.back().flat, function.flat);
      result.back().cum = WrapAdd(result.back().cum, function.cum);
    } else {
      result.push_back(std::move(function));
    }
  }
  for (size_t i = 0; i < result.size(); ++i) {
    if (i > 0) {
      const int64_t half = std::min((result[i].begin - result[i - 1].end) / 2, kAroundLines);
      result[i - 1].end += half;
      result[i].begin -= half;
    } else if (result[i].begin > 0) {  // 0 stands for unknown lines
      result[i].begin = std::max<int64_t>(result[i].begin - kAroundLines, 1);
    }
  }
  if (!result.empty()) result.back().end += kAroundLines;
  return result;
}

Result<WeblistCode> FindWeblistCode(const ReportInput& input) {
  HG_ASSIGN(const Regex regex, Regex::Compile(input.request.pattern));
  Finder finder(input, regex);
  WeblistCode code = finder.Find();
  if (finder.nothing_matched()) {
    return Fail(ErrorCode::kNotFound, "no matches found for regexp: " + input.request.pattern);
  }
  return code;
}

}  // namespace heapgauge::pprof
