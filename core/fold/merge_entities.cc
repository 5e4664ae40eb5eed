#include "core/fold/merge_entities.h"

#include <type_traits>

namespace heapgauge {
namespace {

template <typename T>
void AddNumber(T number, std::string* key) {
  static_assert(std::is_integral_v<T>);
  key->append(reinterpret_cast<const char*>(&number), sizeof number);
}

void AddText(const std::string& text, std::string* key) {
  AddNumber(text.size(), key);
  *key += text;
}

}  // namespace

void EntityMerger::Begin(const Profile& source) {
  source_ = &source;
  locations_of_.assign(source.locations.size(), kNone);
  functions_of_.assign(source.functions.size(), kNone);
  modules_of_.assign(source.modules.size(), kNone);
  seen_.assign(locations_.size(), false);
  collapsed_ = false;
  mapped_ = 0;
  if (modules_.empty() && !source.modules.empty()) MapModule(0);
}

ModuleId EntityMerger::MapModule(ModuleId id) {
  if (modules_of_[id] != kNone) return modules_of_[id];
  const Module& module = source_->modules[id];
  // Sizes that differ within a page are the same.
  constexpr uint64_t kPage = 0x1000;
  key_.clear();
  AddNumber((module.end - module.start + kPage - 1) / kPage, &key_);
  AddNumber(module.offset, &key_);
  key_ += module.build_id.empty() ? module.path : module.build_id;
  const auto [it, is_new] = module_ids_.try_emplace(key_, static_cast<ModuleId>(modules_.size()));
  if (is_new) modules_.push_back(module);
  modules_of_[id] = it->second;
  return it->second;
}

FunctionId EntityMerger::MapFunction(FunctionId id) {
  if (functions_of_[id] != kNone) return functions_of_[id];
  const Function& function = source_->functions[id];
  key_.clear();
  AddNumber(function.start_line, &key_);
  AddNumber(function.no_system_name, &key_);
  AddText(function.name, &key_);
  AddText(function.system_name, &key_);
  key_ += function.file;
  const auto [it, is_new] =
      function_ids_.try_emplace(key_, static_cast<FunctionId>(functions_.size()));
  if (is_new) functions_.push_back(function);
  functions_of_[id] = it->second;
  return it->second;
}

LocationId EntityMerger::Add(LocationId id) {
  ++mapped_;
  Location location = source_->locations[id];
  uint64_t base = 0;
  if (location.module != kNone) {
    const uint64_t start = source_->modules[location.module].start;
    location.module = MapModule(location.module);
    base = modules_[location.module].start;
    location.address += base - start;
  }
  const auto first_frame = static_cast<uint32_t>(frames_.size());
  for (uint32_t i = 0; i < location.frame_count; ++i) {
    Frame frame = source_->frames[location.first_frame + i];
    frame.function = MapFunction(frame.function);
    frames_.push_back(frame);
  }
  location.first_frame = first_frame;
  key_.clear();
  AddNumber(location.lookup_address() - base, &key_);
  AddNumber(location.module, &key_);
  AddNumber(location.folded, &key_);
  for (uint32_t i = 0; i < location.frame_count; ++i) {
    const Frame& frame = frames_[first_frame + i];
    AddNumber(frame.function, &key_);
    AddNumber(frame.line, &key_);
    AddNumber(frame.column, &key_);
  }
  const auto [it, is_new] =
      location_ids_.try_emplace(key_, static_cast<LocationId>(locations_.size()));
  if (is_new) {
    locations_.push_back(location);
    seen_.push_back(true);
  } else {
    frames_.resize(first_frame);
    collapsed_ = collapsed_ || seen_[it->second];
    seen_[it->second] = true;
  }
  locations_of_[id] = it->second;
  return it->second;
}

void EntityMerger::MoveTo(Profile* profile) {
  profile->modules = std::move(modules_);
  profile->functions = std::move(functions_);
  profile->locations = std::move(locations_);
  profile->frames = std::move(frames_);
}

}  // namespace heapgauge
