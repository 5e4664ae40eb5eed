#include "core/symbolize/frame_cache.h"

#include <algorithm>

namespace heapgauge {

std::vector<uint32_t> FrameCache::NumberModules(const Profile& profile) {
  std::vector<uint32_t> numbers;
  for (const Module& module : profile.modules) {
    const auto [it, is_new] = modules_.try_emplace(module.path + '\0' + module.build_id,
                                                   static_cast<uint32_t>(modules_.size()));
    if (is_new) facts_.emplace_back();
    numbers.push_back(it->second);
  }
  return numbers;
}

FrameCache::Key FrameCache::KeyOf(const Profile& profile, const Location& location,
                                  const std::vector<uint32_t>& modules) const {
  if (location.module == kNone) return {kNone, location.lookup_address()};
  return {modules[location.module],
          location.lookup_address() - profile.modules[location.module].load_bias};
}

void FrameCache::Fill(Profile* profile) {
  const std::vector<uint32_t> modules = NumberModules(*profile);
  std::vector<FunctionId> function_of(functions_.size(), kNone);
  for (Location& location : profile->locations) {
    if (location.frame_count != 0) continue;
    const auto found = known_.find(KeyOf(*profile, location, modules));
    if (found == known_.end()) continue;
    location.first_frame = static_cast<uint32_t>(profile->frames.size());
    location.frame_count = found->second.count;
    for (uint32_t i = 0; i < found->second.count; ++i) {
      Frame frame = frames_[found->second.first + i];
      FunctionId& function = function_of[frame.function];
      if (function == kNone) {
        function = static_cast<FunctionId>(profile->functions.size());
        profile->functions.push_back(functions_[frame.function]);
      }
      frame.function = function;
      profile->frames.push_back(frame);
    }
  }
  for (size_t i = 0; i < modules.size(); ++i) {
    profile->modules[i].has_functions = facts_[modules[i]].has_functions;
    profile->modules[i].NoteLines(facts_[modules[i]].has_lines);
  }
}

std::vector<std::string> FrameCache::Learn(const Profile& profile,
                                           const std::vector<std::string>& notes) {
  const std::vector<uint32_t> modules = NumberModules(profile);
  std::vector<FunctionId> id_of(profile.functions.size(), kNone);
  for (const Location& location : profile.locations) {
    if (location.frame_count == 0) continue;
    const Range range{static_cast<uint32_t>(frames_.size()), location.frame_count};
    if (!known_.emplace(KeyOf(profile, location, modules), range).second) continue;
    for (uint32_t i = 0; i < location.frame_count; ++i) {
      Frame frame = profile.frames[location.first_frame + i];
      FunctionId& id = id_of[frame.function];
      if (id == kNone) {
        const Function& function = profile.functions[frame.function];
        const auto [it, is_new] = function_ids_.try_emplace(
            function.name + '\0' + function.system_name + '\0' + function.file,
            static_cast<FunctionId>(functions_.size()));
        if (is_new) functions_.push_back(function);
        id = it->second;
      }
      frame.function = id;
      frames_.push_back(frame);
    }
  }
  for (size_t i = 0; i < modules.size(); ++i) {
    ModuleFacts& facts = facts_[modules[i]];
    facts.has_functions = facts.has_functions || profile.modules[i].has_functions;
    facts.has_lines = facts.has_lines || profile.modules[i].has_lines;
  }
  for (const std::string& note : notes) {
    if (std::find(notes_.begin(), notes_.end(), note) == notes_.end()) notes_.push_back(note);
  }
  return notes_;
}

}  // namespace heapgauge
