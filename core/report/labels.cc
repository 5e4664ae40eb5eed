#include "core/report/labels.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/short_name.h"
#include "core/base/text.h"

namespace heapgauge {
namespace {

std::string ModuleName(const Profile& profile, const Entity& entity, bool whole) {
  if (entity.module == kNone) return "(no module)";
  const std::string& path = profile.modules[entity.module].path;
  if (path.empty()) return "(unnamed module)";
  return whole ? path : std::string(BaseName(path));
}

// Ever longer names of an entity; the last ones are sure to differ from those of any other.
class Namer {
 public:
  static constexpr int kLevels = 12;
  static constexpr int kLastShort = 6;

  Namer(const Profile& profile, const Entities& entities, Names names, const Layout& layout)
      : profile_(profile), entities_(entities), names_(names), ellipsis_(layout.ellipsis()) {}

  std::string At(EntityId id, int level) const {
    const Entity& entity = entities_[id];
    const Function& function = profile_.functions[entity.function];
    switch (entities_.granularity()) {
      case Granularity::kModules:
        return ModuleName(profile_, entity, level > 0 || names_ == Names::kWhole);
      case Granularity::kFiles:
        if (!function.file.empty()) return function.file;
        return "(no file) " + ModuleName(profile_, entity, level > 0);
      case Granularity::kAddresses: {
        const Location& location = profile_.locations[entity.location];
        const uint64_t offset =
            location.module == kNone ? 0 : profile_.modules[location.module].load_bias;
        return fmt::format("0x{:x} {}", location.address - offset,
                           FunctionAt(entity, function, level));
      }
      case Granularity::kLines:
      case Granularity::kFunctions:
        break;
    }
    return FunctionAt(entity, function, level);
  }

 private:
  std::string FunctionAt(const Entity& entity, const Function& function, int level) const {
    const bool whole = names_ == Names::kWhole || level == 7 || level >= 10;
    // What short names show at each level: parameters, arguments of scopes, own arguments.
    struct Form {
      bool parameters;
      int scopes;
      int own;
    };
    static constexpr Form kForms[kLastShort + 1] = {{false, 0, 0}, {true, 0, 0}, {false, 1, 0},
                                                    {false, 0, 1}, {true, 1, 0}, {false, 1, 1},
                                                    {true, 1, 1}};
    const Form& form = kForms[level <= kLastShort ? level : 0];
    const ShortNameOptions options{form.parameters, form.scopes, form.own, ellipsis_};
    const std::string name = whole ? function.name : ShortName(function.name, options);
    const bool has_line = entities_.granularity() == Granularity::kLines;
    switch (level) {
      case 8:
        return name + " [" + std::string(BaseName(function.file)) + "]";
      case 9:
        return name + " [" + ModuleName(profile_, entity, false) + "]";
      case 10:
        return fmt::format("{} [{}{}]", name, function.file,
                           has_line ? ":" + std::to_string(entity.line) : "");
      case 11:  // names that differ for the linker alone, as the two constructors of a class
        return fmt::format("{} [{} {} {}]", name, function.system_name, function.file,
                           ModuleName(profile_, entity, true));
      default:
        return name;
    }
  }

  const Profile& profile_;
  const Entities& entities_;
  Names names_;
  const char* ellipsis_;
};

bool AllDiffer(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  return std::adjacent_find(names.begin(), names.end()) == names.end();
}

using Group = std::vector<EntityId>;

// The level at which no two of a group have the same name. Of parameters, template arguments or
// both, what takes the least room.
int TellingLevel(const Namer& namer, const Group& group) {
  int best = Namer::kLevels - 1;
  size_t best_length = std::string::npos;
  for (int level = 1; level < Namer::kLevels; ++level) {
    if (level > Namer::kLastShort && best_length != std::string::npos) break;
    std::vector<std::string> names;
    size_t length = 0;
    for (const EntityId id : group) {
      names.push_back(namer.At(id, level));
      length += names.back().size();
    }
    if (length >= best_length || !AllDiffer(std::move(names))) continue;
    best = level;
    best_length = length;
  }
  return best;
}

}  // namespace

Labels::Labels(const Profile& profile, const Entities& entities, std::vector<EntityId> shown,
               Names names, const Layout& layout) {
  std::sort(shown.begin(), shown.end());
  shown.erase(std::unique(shown.begin(), shown.end()), shown.end());
  const Namer namer(profile, entities, names, layout);
  std::unordered_map<std::string, Group> groups;
  for (const EntityId id : shown) {
    if (id == kNone) {
      labels_[kNone] = "(unknown stack)";
      continue;
    }
    std::string label = namer.At(id, 0);
    groups[label].push_back(id);
    labels_[id] = std::move(label);
  }
  for (const auto& [label, members] : groups) {
    if (members.size() == 1) continue;
    // Lines of one function share its name and differ by their place, which is shown beside it; one
    // of each function is enough to find the level.
    Group different;
    if (entities.granularity() == Granularity::kLines) {
      std::unordered_map<std::string, EntityId> seen;
      for (const EntityId id : members) {
        const Function& f = profile.functions[entities[id].function];
        const std::string key = (f.system_name.empty() ? f.name : f.system_name) + '\0' + f.file +
                                '\0' + (f.file.empty() ? std::to_string(entities[id].module) : "");
        if (seen.emplace(key, id).second) different.push_back(id);
      }
    } else {
      different = members;
    }
    if (different.size() == 1) continue;
    const int level = TellingLevel(namer, different);
    for (const EntityId id : members) labels_[id] = namer.At(id, level);
  }
}

std::string PlaceOf(const Profile& profile, Granularity granularity, uint32_t frame_id) {
  if (frame_id == kNone || granularity == Granularity::kFiles ||
      granularity == Granularity::kModules) {
    return "";
  }
  const Frame& frame = profile.frames[frame_id];
  const std::string_view file = BaseName(profile.functions[frame.function].file);
  if (file.empty()) return "";
  return frame.line == 0 ? std::string(file) : fmt::format("{}:{}", file, frame.line);
}

std::vector<std::string> FrameNames(const Profile& profile, Granularity granularity, Names names) {
  const Entities entities(profile, granularity);
  std::vector<EntityId> all(entities.size());
  for (EntityId id = 0; id < all.size(); ++id) all[id] = id;
  const Labels labels(profile, entities, std::move(all), names, {});
  std::vector<std::string> frame_names(profile.frames.size());
  for (LocationId id = 0; id < profile.locations.size(); ++id) {
    const Location& location = profile.locations[id];
    for (uint32_t k = 0; k < location.frame_count; ++k) {
      std::string& name = frame_names[location.first_frame + k];
      name = labels[entities.Of(id, k)];
      if (granularity != Granularity::kLines) continue;
      const std::string place = PlaceOf(profile, granularity, location.first_frame + k);
      if (!place.empty()) name += " " + place;
    }
  }
  return frame_names;
}

StyledText FitLabel(std::string_view label, std::string_view place, Granularity granularity,
                    size_t width, const Layout& layout) {
  StyledText text;
  const size_t needed = DisplayWidth(label);
  if (granularity == Granularity::kFiles && needed > width) {
    const size_t dots = DisplayWidth(layout.ellipsis());
    if (width <= dots) return text.Add(FirstColumns(label, width));
    text.Add(layout.ellipsis(), Style::kDim);
    return text.Add(LastColumns(label, width - dots));
  }
  // A name of this length can still be told from others when it is cut.
  constexpr size_t kTelling = 24;
  size_t room = width;
  const size_t place_width = place.empty() ? 0 : DisplayWidth(place) + 1;
  // By line the place is half of what the label means.
  const size_t least = granularity == Granularity::kLines ? 8 : std::max(kTelling, width / 2);
  const bool has_place = place_width != 0 && place_width + std::min(needed, least) <= width;
  if (has_place) room -= place_width;
  text.Add(TrimName(label, room, layout.ellipsis()));
  if (has_place) text.Add(" ").Add(place, Style::kDim);
  return text;
}

}  // namespace heapgauge
