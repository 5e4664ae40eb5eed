#include "core/formats/heaptrack/heaptrack_names.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.h"

namespace heapgauge {

void HeaptrackModules::Clear() { loaded_.clear(); }

bool HeaptrackModules::Add(std::string_view name, uint64_t base,
                           const std::vector<std::pair<uint64_t, uint64_t>>& segments) {
  uint64_t start = UINT64_MAX;
  uint64_t end = 0;
  for (const auto& [address, size] : segments) {
    uint64_t from = 0;
    uint64_t to = 0;
    if (size == 0 || __builtin_add_overflow(base, address, &from) ||
        __builtin_add_overflow(from, size, &to)) {
      continue;
    }
    start = std::min(start, from);
    end = std::max(end, to);
  }
  if (start >= end) return true;  // nothing can lie in it
  const std::string key = fmt::format("{} {:x} {:x}", name, start, end);
  auto it = numbers_.find(key);
  if (it == numbers_.end()) {
    if (modules_.size() >= kMost) return false;
    it = numbers_.emplace(key, static_cast<ModuleId>(modules_.size())).first;
    Module module;
    module.path = name;
    module.start = start;
    module.end = end;
    module.load_bias = base;
    modules_.push_back(std::move(module));
  }
  // Into its place: files are free to add one object and ask, again and again.
  const auto place = After(start);
  const auto same = std::lower_bound(
      loaded_.cbegin(), place, start,
      [&](ModuleId module, uint64_t value) { return modules_[module].start < value; });
  const bool is_loaded = std::find(same, place, it->second) != place;
  if (!is_loaded) loaded_.insert(place, it->second);
  return true;
}

std::vector<ModuleId>::const_iterator HeaptrackModules::After(uint64_t address) const {
  return std::upper_bound(
      loaded_.begin(), loaded_.end(), address,
      [&](uint64_t value, ModuleId module) { return value < modules_[module].start; });
}

ModuleId HeaptrackModules::At(uint64_t address) const {
  const auto after = After(address);
  if (after == loaded_.begin() || address >= modules_[*(after - 1)].end) return kNone;
  return *(after - 1);
}

const std::string& HeaptrackNames::String(uint32_t number) const {
  static const std::string* const kEmpty = new std::string;
  return number == 0 || number > strings_.size() ? *kEmpty : strings_[number - 1];
}

FunctionId HeaptrackNames::FunctionOf(const HeaptrackFrame& frame) {
  const auto next = static_cast<FunctionId>(profile_->functions.size());
  const FunctionId id = functions_.Find(frame.function, frame.file, next);
  if (id == next) {
    Function function;
    function.name = String(frame.function);
    function.file = String(frame.file);
    profile_->functions.push_back(std::move(function));
  }
  return id;
}

// An interpreted file does not tell where its modules were loaded, so nobody can name this later.
FunctionId HeaptrackNames::Placeholder(uint64_t address, uint32_t module, uint32_t file) {
  Function function;
  function.name = fmt::format("{}{}{:#x}", BaseName(String(module)),
                              String(module).empty() ? "" : " ", address);
  function.file = String(file);
  function.placeholder = true;
  profile_->functions.push_back(std::move(function));
  return static_cast<FunctionId>(profile_->functions.size() - 1);
}

ModuleId HeaptrackNames::NamedModule(uint32_t name) {
  if (name == 0) return kNone;
  const auto [it, is_new] =
      by_name_.try_emplace(name, static_cast<ModuleId>(profile_->modules.size()));
  if (is_new) {
    Module module;
    module.path = String(name);
    module.load_bias_known = false;
    module.has_functions = true;
    module.has_files = module.has_lines = module.has_inlines = true;
    profile_->modules.push_back(std::move(module));
  }
  return it->second;
}

void HeaptrackNames::AddInstruction(uint64_t address, uint32_t module,
                                    const std::vector<HeaptrackFrame>& frames) {
  Location location;
  location.address = address;
  location.exact = true;  // heaptrack has taken one off the return address
  location.module = NamedModule(module);
  location.first_frame = static_cast<uint32_t>(profile_->frames.size());
  for (size_t i = 0; i < frames.size(); ++i) {
    Frame frame;
    frame.function = frames[i].function == 0 ? Placeholder(address, module, frames[i].file)
                                             : FunctionOf(frames[i]);
    frame.line = frames[i].line;
    frame.inlined = i + 1 < frames.size();
    profile_->frames.push_back(frame);
  }
  if (frames.empty()) {
    Frame frame;
    frame.function = Placeholder(address, module, 0);
    profile_->frames.push_back(frame);
  }
  location.frame_count = static_cast<uint32_t>(profile_->frames.size()) - location.first_frame;
  instructions_.push_back(static_cast<LocationId>(profile_->locations.size()));
  profile_->locations.push_back(location);
}

LocationId HeaptrackNames::Address(uint64_t address) {
  const Place place{address, modules_.At(address)};
  const auto [it, is_new] =
      places_.try_emplace(place, static_cast<LocationId>(profile_->locations.size()));
  if (is_new) {
    // Within the call already, but not exact: who takes one off again is still within it, and right
    // with recorders that do not.
    Location location;
    location.address = address;
    location.module = place.module;
    profile_->locations.push_back(location);
  }
  return it->second;
}

void HeaptrackNames::Finish() {
  if (!modules_.modules().empty()) profile_->modules = modules_.modules();
  // The file names no build, so the symbolizer takes what is at the path.
  for (Module& module : profile_->modules) module.load_bias_known = false;
  PutProgramFirst();
}

// Interpreted files have modules in the order in which stacks lead through them; in a profile the
// first one is the program.
void HeaptrackNames::PutProgramFirst() {
  RecordingFacts& recording = profile_->recording;
  const std::string name = recording.name();
  std::vector<Module>& modules = profile_->modules;
  ModuleId program = 0;
  while (program < modules.size() && BaseName(modules[program].path) != name) ++program;
  if (name.empty() || program >= modules.size()) return;
  if (recording.program.empty()) recording.program = modules[program].path;
  if (program == 0) return;
  std::swap(modules[0], modules[program]);
  for (Location& location : profile_->locations) {
    if (location.module == 0) {
      location.module = program;
    } else if (location.module == program) {
      location.module = 0;
    }
  }
}

}  // namespace heapgauge
