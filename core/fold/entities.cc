#include "core/fold/entities.h"

#include <tuple>
#include <unordered_map>
#include <utility>

namespace heapgauge {
namespace {

constexpr std::pair<Granularity, const char*> kNames[] = {
    {Granularity::kFunctions, "functions"}, {Granularity::kLines, "lines"},
    {Granularity::kFiles, "files"},         {Granularity::kModules, "modules"},
    {Granularity::kAddresses, "addresses"},
};

// A number for each different text, in the order of their appearance. Texts must outlive it.
class Numbering {
 public:
  uint32_t Of(std::string_view text) {
    return numbers_.try_emplace(text, static_cast<uint32_t>(numbers_.size())).first->second;
  }

 private:
  std::unordered_map<std::string_view, uint32_t> numbers_;
};

struct PairHash {
  size_t operator()(const std::pair<uint64_t, uint64_t>& key) const {
    uint64_t h = (key.first ^ (key.second << 32 | key.second >> 32)) * 0x9e3779b97f4a7c15ull;
    return h ^ h >> 29;
  }
};

const std::string& LinkerName(const Function& function) {
  return function.system_name.empty() ? function.name : function.system_name;
}

std::string FunctionKey(const Function& function) {
  std::string key = LinkerName(function);
  key += '\0';
  key += function.file;
  return key;
}

uint64_t OffsetIn(const Profile& profile, const Location& location) {
  return location.module == kNone ? location.address
                                  : location.address - profile.modules[location.module].load_bias;
}

}  // namespace

const char* GranularityName(Granularity granularity) {
  for (const auto& [value, name] : kNames) {
    if (value == granularity) return name;
  }
  return "functions";
}

Granularity GranularityOf(std::string_view name) {
  for (const auto& [value, text] : kNames) {
    if (name == text) return value;
  }
  return Granularity::kFunctions;
}

Entities::Entities(const Profile& profile, Granularity granularity) : granularity_(granularity) {
  Numbering names;
  Numbering files;
  Numbering modules;
  std::vector<uint32_t> function_number;  // by name and file
  std::vector<uint32_t> file_number;
  std::unordered_map<std::pair<uint64_t, uint64_t>, uint32_t, PairHash> functions;
  functions.reserve(profile.functions.size());
  for (const Function& function : profile.functions) {
    file_number.push_back(files.Of(function.file));
    const std::pair<uint64_t, uint64_t> both{names.Of(LinkerName(function)), file_number.back()};
    function_number.push_back(
        functions.try_emplace(both, static_cast<uint32_t>(functions.size())).first->second);
  }
  // The same library can be loaded more than once; its address differs, its path does not.
  std::vector<uint32_t> module_number;
  for (const Module& module : profile.modules) module_number.push_back(modules.Of(module.path));

  std::unordered_map<std::pair<uint64_t, uint64_t>, EntityId, PairHash> known;
  first_.reserve(profile.locations.size());
  ids_.reserve(profile.frames.size());
  for (LocationId id = 0; id < profile.locations.size(); ++id) {
    const Location& location = profile.locations[id];
    first_.push_back(static_cast<uint32_t>(ids_.size()));
    const uint64_t module = location.module == kNone ? kNone : module_number[location.module];
    for (uint32_t k = 0; k < location.frame_count; ++k) {
      const Frame& frame = profile.frames[location.first_frame + k];
      const bool has_file = !profile.functions[frame.function].file.empty();
      const uint64_t own_module = has_file ? kNone : module;
      std::pair<uint64_t, uint64_t> key;
      Entity entity{frame.function, location.module, id, 0};
      switch (granularity) {
        case Granularity::kFunctions:
          key = {function_number[frame.function], own_module};
          break;
        case Granularity::kLines:
          key = {function_number[frame.function] | uint64_t{frame.line} << 32, own_module};
          entity.line = frame.line;
          break;
        case Granularity::kFiles:
          key = {file_number[frame.function], own_module};
          break;
        case Granularity::kModules:
          key = {module, 0};
          break;
        case Granularity::kAddresses:
          key = {OffsetIn(profile, location), module << 32 | k};
          entity.line = frame.line;
          break;
      }
      const auto [it, is_new] = known.try_emplace(key, static_cast<EntityId>(entities_.size()));
      if (is_new) entities_.push_back(entity);
      ids_.push_back(it->second);
    }
  }
}

Entities Entities::OnePerLocation() const {
  Entities same;
  same.granularity_ = granularity_;
  same.entities_ = entities_;
  for (EntityId id = 0; id < entities_.size(); ++id) {
    same.entities_[id].location = id;
    same.first_.push_back(id);
    same.ids_.push_back(id);
  }
  return same;
}

Entities Entities::Joined(const std::vector<uint32_t>& number_of) const {
  Entities joined;
  joined.granularity_ = granularity_;
  joined.first_ = first_;
  std::unordered_map<uint32_t, EntityId> known;
  std::vector<EntityId> id_of;
  for (EntityId id = 0; id < entities_.size(); ++id) {
    const auto next = static_cast<EntityId>(joined.entities_.size());
    const auto [it, is_new] = known.try_emplace(number_of[id], next);
    if (is_new) joined.entities_.push_back(entities_[id]);
    id_of.push_back(it->second);
  }
  for (const EntityId id : ids_) joined.ids_.push_back(id_of[id]);
  return joined;
}

std::string IdentityOf(const Profile& profile, const Entities& entities, EntityId id) {
  const Entity& entity = entities[id];
  const Function& function = profile.functions[entity.function];
  const std::string module =
      entity.module == kNone ? std::string() : profile.modules[entity.module].path;
  const std::string own_module = function.file.empty() ? module : "";
  switch (entities.granularity()) {
    case Granularity::kFunctions:
      break;
    case Granularity::kLines:
      return FunctionKey(function) + '\0' + own_module + '\0' + std::to_string(entity.line);
    case Granularity::kFiles:
      return function.file + '\0' + own_module;
    case Granularity::kModules:
      return module;
    case Granularity::kAddresses:
      return module + '\0' + std::to_string(OffsetIn(profile, profile.locations[entity.location])) +
             '\0' + FunctionKey(function);
  }
  return FunctionKey(function) + '\0' + own_module;
}

bool IsNamedBefore(const Profile& profile, const Entities& entities, EntityId a, EntityId b) {
  if (a == kNone || b == kNone) return a < b;
  using Key = std::tuple<std::string_view, std::string_view, std::string_view, uint32_t, EntityId>;
  // Of a file and a module the function is any of theirs.
  const bool has_file = entities.granularity() != Granularity::kModules;
  const bool has_name = has_file && entities.granularity() != Granularity::kFiles;
  const auto key = [&](EntityId id) -> Key {
    const Entity& entity = entities[id];
    const Function& function = profile.functions[entity.function];
    std::string_view module;
    if (entity.module != kNone) module = profile.modules[entity.module].path;
    return {has_name ? function.name : std::string_view(),
            has_file ? function.file : std::string_view(), module, entity.line, id};
  };
  return key(a) < key(b);
}

}  // namespace heapgauge
