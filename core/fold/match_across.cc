#include "core/fold/match_across.h"

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/base/function_name.h"
#include "core/base/text.h"

namespace heapgauge {
namespace {

enum class NameForm {
  kLinkers,  // as the linker has it, or what stands in for that
  kShown,    // as people read it
  // Without parameters, which not all tools know, lines, and versions of libraries.
  kPlain,
};

// How much of an entity's names is compared.
struct Level {
  NameForm form = NameForm::kLinkers;
  size_t path_parts = 0;  // how many components, from the end; 0 none
};

// One after the other, from the strictest. What is the same at any of them is so at the last.
constexpr Level kLinkersNames[] = {{NameForm::kLinkers, 3},
                                   {NameForm::kLinkers, 2},
                                   {NameForm::kLinkers, 1},
                                   {NameForm::kLinkers, 0}};
constexpr Level kReadableNames[] = {{NameForm::kShown, 3}, {NameForm::kShown, 2},
                                    {NameForm::kShown, 1}, {NameForm::kPlain, 1},
                                    {NameForm::kShown, 0}, {NameForm::kPlain, 0}};
// Where the path is what tells an entity.
constexpr Level kPaths[] = {{NameForm::kLinkers, 3},
                            {NameForm::kLinkers, 2},
                            {NameForm::kLinkers, 1},
                            {NameForm::kPlain, 1}};

// The base name of a module without the version of a library: tools follow links to it or do not,
// and the next build has another.
std::string_view LibraryName(std::string_view path) {
  const std::string_view name = BaseName(path);
  constexpr std::string_view kVersion = ".so.";
  const size_t at = name.find(kVersion);
  return at == std::string_view::npos ? name : name.substr(0, at + kVersion.size() - 1);
}

std::string NameOf(const Function& function, NameForm form) {
  if (form == NameForm::kPlain) return WithoutLines(WithoutParameters(function.name));
  const bool shown = form == NameForm::kShown || function.system_name.empty();
  return shown ? function.name : function.system_name;
}

std::string_view LastParts(std::string_view path, size_t parts) {
  size_t at = path.size();
  for (; parts > 0 && at != std::string_view::npos && at > 0; --parts) {
    at = path.rfind('/', at - 1);
  }
  if (at == std::string_view::npos) return path;
  return at < path.size() ? path.substr(at + 1) : std::string_view();
}

// Things are numbered as they are met; those that turn out to be the same get the smaller number.
class Matcher {
 public:
  explicit Matcher(const std::vector<MatchSide>& sides)
      : sides_(sides), granularity_(sides.front().entities->granularity()) {}

  MatchedEntities Run() {
    MatchByIdentity();
    if (granularity_ == Granularity::kFunctions || granularity_ == Granularity::kLines) {
      MatchBy(kLinkersNames);
      MatchBy(kReadableNames);
    } else {
      MatchBy(kPaths);
    }
    return Numbered();
  }

 private:
  struct Thing {
    size_t side = 0;  // where it was first met
    EntityId entity = kNone;
    uint32_t same_as = kNone;    // kNone: itself
    std::vector<size_t> met_in;  // sides, ascending
  };

  void MatchByIdentity() {
    std::unordered_map<std::string, uint32_t> numbers;
    for (size_t side = 0; side < sides_.size(); ++side) {
      const auto& [profile, entities] = sides_[side];
      std::vector<uint32_t>& thing_of = made_.thing_of.emplace_back();
      for (EntityId id = 0; id < entities->size(); ++id) {
        const auto [it, is_new] = numbers.try_emplace(IdentityOf(*profile, *entities, id),
                                                      static_cast<uint32_t>(things_.size()));
        if (is_new) things_.push_back({side, id, kNone, {}});
        std::vector<size_t>& met_in = things_[it->second].met_in;
        if (met_in.empty() || met_in.back() != side) met_in.push_back(side);
        thing_of.push_back(it->second);
      }
    }
  }

  // What the names of a thing are at that level, with all that must be the same besides.
  std::string KeyOf(const Thing& thing, const Level& level) const {
    const Profile& profile = *sides_[thing.side].profile;
    const Entity& entity = (*sides_[thing.side].entities)[thing.entity];
    const Function& function = profile.functions[entity.function];
    static const Module kNoModule;
    const Module& module = entity.module == kNone ? kNoModule : profile.modules[entity.module];
    const bool of_module =
        granularity_ == Granularity::kModules || granularity_ == Granularity::kAddresses;
    const bool by_module = of_module || function.file.empty();
    const std::string& path = by_module ? module.path : function.file;
    std::string key(by_module && level.form == NameForm::kPlain && level.path_parts != 0
                        ? LibraryName(path)
                        : LastParts(path, level.path_parts));
    if (granularity_ == Granularity::kModules) return key;
    if (granularity_ == Granularity::kFiles) {
      return key + (function.file.empty() ? '\0' : '\1');  // a module stands in for its files
    }
    key += '\0' + NameOf(function, level.form);
    if (granularity_ == Granularity::kLines) key += '\0' + std::to_string(entity.line);
    if (granularity_ == Granularity::kAddresses) {
      const uint64_t at = profile.locations[entity.location].address - module.load_bias;
      key += '\0' + std::to_string(at);
    }
    if (granularity_ == Granularity::kAddresses || function.placeholder) {
      key += '\0' + module.build_id;
    }
    return key;
  }

  // The build whose debug information names the file of a thing; "" if nobody knows.
  const std::string& BuildOf(const Thing& thing) const {
    static const std::string kUnknown;
    const Profile& profile = *sides_[thing.side].profile;
    const Entity& entity = (*sides_[thing.side].entities)[thing.entity];
    const bool has_file = granularity_ != Granularity::kModules &&
                          granularity_ != Granularity::kAddresses &&
                          !profile.functions[entity.function].file.empty();
    return has_file && entity.module != kNone ? profile.modules[entity.module].build_id : kUnknown;
  }

  // Whether both may be in the same module: not if those are known and have different names. The
  // program may be called as it likes.
  bool MayShareModule(const Thing& a, const Thing& b) const {
    const auto module_of = [&](const Thing& thing) {
      return (*sides_[thing.side].entities)[thing.entity].module;
    };
    const auto name_of = [&](const Thing& thing, ModuleId module) {
      return LibraryName(sides_[thing.side].profile->modules[module].path);
    };
    const ModuleId one = module_of(a);
    const ModuleId other = module_of(b);
    if (one == kNone || other == kNone || (one == 0 && other == 0)) return true;
    return name_of(a, one) == name_of(b, other);
  }

  // Whether none of these things can be told from another: each profile has one of them at most, no
  // two are from different files of one build, and none is known to be in another module.
  bool AreOne(const std::vector<uint32_t>& numbers, const Level& level) const {
    std::vector<bool> met(sides_.size());
    std::vector<std::string_view> builds;
    for (const uint32_t number : numbers) {
      for (const size_t side : things_[number].met_in) {
        if (met[side]) return false;
        met[side] = true;
      }
      if (level.path_parts == 0 && !MayShareModule(things_[numbers[0]], things_[number])) {
        return false;
      }
      const std::string& build = BuildOf(things_[number]);
      if (!build.empty()) builds.push_back(build);
    }
    std::sort(builds.begin(), builds.end());
    return std::adjacent_find(builds.begin(), builds.end()) == builds.end();
  }

  // Most names are there once or in all profiles. So things are put into groups first, by a hash of
  // what they are at the last level, and only groups in which there may be a match are looked at.
  void MatchBy(std::span<const Level> levels) {
    std::vector<std::pair<size_t, uint32_t>> by_hash;
    for (uint32_t number = 0; number < things_.size(); ++number) {
      if (things_[number].same_as != kNone) continue;
      by_hash.push_back({std::hash<std::string>()(KeyOf(things_[number], levels.back())), number});
    }
    std::sort(by_hash.begin(), by_hash.end());
    std::vector<uint32_t> group;
    for (size_t i = 0; i < by_hash.size(); ++i) {
      group.push_back(by_hash[i].second);
      if (i + 1 < by_hash.size() && by_hash[i + 1].first == by_hash[i].first) continue;
      for (const Level& level : levels) {
        if (group.size() > 1) MatchGroup(level, &group);
      }
      group.clear();
    }
  }

  // Leaves those in the group that are not the same as another.
  void MatchGroup(const Level& level, std::vector<uint32_t>* group) {
    const bool all_met = std::all_of(group->begin(), group->end(), [&](uint32_t number) {
      return things_[number].met_in.size() == sides_.size();
    });
    if (all_met) return;
    std::vector<std::pair<std::string, uint32_t>> by_key;
    for (const uint32_t number : *group) by_key.push_back({KeyOf(things_[number], level), number});
    std::sort(by_key.begin(), by_key.end());
    std::vector<uint32_t> same;
    for (size_t i = 0; i < by_key.size(); ++i) {
      same.push_back(by_key[i].second);
      if (i + 1 < by_key.size() && by_key[i + 1].first == by_key[i].first) continue;
      if (same.size() > 1 && AreOne(same, level)) Join(same);
      same.clear();
    }
    std::erase_if(*group, [&](uint32_t number) { return things_[number].same_as != kNone; });
  }

  void Join(const std::vector<uint32_t>& numbers) {
    Thing& one = things_[numbers[0]];
    for (size_t i = 1; i < numbers.size(); ++i) {
      Thing& other = things_[numbers[i]];
      other.same_as = numbers[0];
      one.met_in.insert(one.met_in.end(), other.met_in.begin(), other.met_in.end());
    }
    std::sort(one.met_in.begin(), one.met_in.end());
  }

  MatchedEntities Numbered() {
    std::vector<uint32_t> number_of(things_.size());
    for (size_t i = 0; i < things_.size(); ++i) {
      // What a thing is the same as comes before it.
      number_of[i] = things_[i].same_as == kNone ? static_cast<uint32_t>(made_.things++)
                                                 : number_of[things_[i].same_as];
    }
    for (std::vector<uint32_t>& thing_of : made_.thing_of) {
      for (uint32_t& thing : thing_of) thing = number_of[thing];
    }
    return std::move(made_);
  }

  const std::vector<MatchSide>& sides_;
  Granularity granularity_;
  std::vector<Thing> things_;
  MatchedEntities made_;
};

}  // namespace

MatchedEntities MatchAcross(const std::vector<MatchSide>& sides) {
  return sides.empty() ? MatchedEntities{} : Matcher(sides).Run();
}

}  // namespace heapgauge
