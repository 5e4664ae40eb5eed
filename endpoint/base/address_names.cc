#include "endpoint/base/address_names.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "core/base/file.h"
#include "core/base/text.h"
#include "core/formats/mappings/mappings.h"
#include "core/os/process.h"

namespace heapgauge::endpoint {
namespace {

constexpr size_t kMostMaps = 64 << 20;

std::vector<std::string> NamesAt(const Profile& profile, LocationId id) {
  std::vector<std::string> names;
  if (id == kNone) return names;
  const Location& location = profile.locations[id];
  for (uint32_t i = 0; i < location.frame_count; ++i) {
    const FunctionId function = profile.frames[location.first_frame + i].function;
    if (function == kNone || profile.functions[function].placeholder) return {};
    names.push_back(profile.functions[function].name);
  }
  return names;
}

LocationId AddLocation(uint64_t lookup, ModuleId module, Profile* questions) {
  Location location;
  location.address = lookup;
  location.exact = true;
  location.module = module;
  questions->locations.push_back(location);
  return static_cast<LocationId>(questions->locations.size() - 1);
}

}  // namespace

AddressNames::AddressNames(const Profile& profile, std::vector<Module> mapped)
    : profile_(profile), modules_(profile.modules) {
  for (Module& module : mapped) modules_.push_back(std::move(module));
  CutIntoRanges();
  for (const Location& location : profile.locations) {
    // As the text formats write it: readers take one off.
    const uint64_t address = location.exact ? location.address + 1 : location.address;
    const auto [it, is_new] = on_stacks_.try_emplace(address, location.module);
    // Plugins that took turns at one address: the last is the likeliest.
    if (!is_new && location.module != kNone &&
        (it->second == kNone || it->second < location.module))
      it->second = location.module;
  }
}

// Modules of the profile may overlap where one was unloaded: the last one is the likeliest. What is
// only mapped comes after all of these.
void AddressNames::CutIntoRanges() {
  const auto own = static_cast<ModuleId>(profile_.modules.size());
  const auto rank = [=](ModuleId id) { return id < own ? uint64_t{own} - id : uint64_t{id} + own; };
  struct Event {
    uint64_t address;
    ModuleId id;
    bool begins;
  };
  std::vector<Event> events;
  for (ModuleId id = 0; id < modules_.size(); ++id) {
    if (modules_[id].start >= modules_[id].end) continue;
    events.push_back({modules_[id].start, id, true});
    events.push_back({modules_[id].end, id, false});
  }
  std::sort(events.begin(), events.end(),
            [](const Event& a, const Event& b) { return a.address < b.address; });
  std::set<std::pair<uint64_t, ModuleId>> open;
  for (size_t i = 0; i < events.size(); ++i) {
    const Event& event = events[i];
    if (event.begins) {
      open.emplace(rank(event.id), event.id);
    } else {
      open.erase({rank(event.id), event.id});
    }
    if (i + 1 < events.size() && events[i + 1].address == event.address) continue;
    ranges_.push_back({event.address, open.empty() ? kNone : open.begin()->second});
  }
}

ModuleId AddressNames::ModuleAt(uint64_t address) const {
  const auto after =
      std::upper_bound(ranges_.begin(), ranges_.end(), address,
                       [](uint64_t value, const Range& range) { return value < range.start; });
  return after == ranges_.begin() ? kNone : (after - 1)->module;
}

Profile AddressNames::Ask(const std::vector<uint64_t>& addresses) {
  Profile questions;
  questions.recording = profile_.recording;
  questions.modules = modules_;
  questions_.clear();
  questions_.reserve(addresses.size());
  std::unordered_map<uint64_t, Question> asked;
  size_t others = 0;
  for (const uint64_t address : addresses) {
    const auto [it, is_new] = asked.try_emplace(address);
    if (is_new) it->second = Consider(address, &others, &questions);
    questions_.push_back(it->second);
  }
  return questions;
}

AddressNames::Question AddressNames::Consider(uint64_t address, size_t* others,
                                              Profile* questions) const {
  Question question;
  if (const auto at = on_stacks_.find(address); at != on_stacks_.end() && address != 0) {
    question.one_below = AddLocation(address - 1, at->second, questions);
  } else if (const auto next = on_stacks_.find(address + 1); next != on_stacks_.end()) {
    question.as_it_is = AddLocation(address, next->second, questions);
  } else if ((*others)++ < kMostOthers) {
    const ModuleId module = ModuleAt(address);
    const ModuleId below = address != 0 ? ModuleAt(address - 1) : kNone;
    if (module != kNone) question.as_it_is = AddLocation(address, module, questions);
    if (below != kNone) question.one_below = AddLocation(address - 1, below, questions);
  }
  return question;
}

std::vector<std::vector<std::string>> AddressNames::Answer(const Profile& questions) const {
  std::vector<std::vector<std::string>> answers;
  answers.reserve(questions_.size());
  for (const Question& question : questions_) {
    std::vector<std::string> as_it_is = NamesAt(questions, question.as_it_is);
    std::vector<std::string> below = NamesAt(questions, question.one_below);
    const bool is_boundary = question.as_it_is == kNone || (!below.empty() && !as_it_is.empty() &&
                                                            below.back() != as_it_is.back());
    answers.push_back(is_boundary ? std::move(below) : std::move(as_it_is));
  }
  return answers;
}

std::vector<Module> ReadMapsOf(const Profile& profile) {
  if (profile.recording.state != RecordingState::kLive) return {};
  const auto text = ReadWholeFile(ProcessDirectory(profile.recording.pid) + "/maps", kMostMaps);
  if (!text) return {};
  MappingParser parser;
  std::string_view rest = *text;
  while (!rest.empty()) parser.Line(TakeUntil(&rest, '\n'));
  std::vector<Module> modules = parser.Take();
  std::erase_if(modules,
                [](const Module& module) { return module.path.empty() || module.path[0] != '/'; });
  for (Module& module : modules) module.load_bias_known = false;
  return modules;
}

}  // namespace heapgauge::endpoint
