// What a line of a report stands for: a function, a source line, a file, a module or an address.
// Every frame of a profile belongs to one entity; which one depends on the granularity asked for.
//
// Functions are the same only if linker name and source file are; where no file is known, the
// module decides as well. So overloads, and static functions that happen to share a name, are never
// added up under one name.
//
// Built once from a profile, in time linear in its frames; read-only afterwards. Refers to the
// profile by ids only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/profile.h"

namespace heapgauge {

enum class Granularity { kFunctions, kLines, kFiles, kModules, kAddresses };
inline constexpr size_t kGranularities = 5;

// "functions", "lines", ... and back; kFunctions for anything else.
const char* GranularityName(Granularity granularity);
Granularity GranularityOf(std::string_view name);

using EntityId = uint32_t;

struct Entity {
  FunctionId function = kNone;  // one that belongs to it
  ModuleId module = kNone;      // the module it was first met in
  LocationId location = kNone;  // the same
  uint32_t line = 0;            // kLines and kAddresses; 0 unknown
};

class Entities {
 public:
  Entities() = default;
  Entities(const Profile& profile, Granularity granularity);

  // The entity of the `k`th frame of a location, the innermost being 0. REQUIRES: the location has
  // that many frames.
  EntityId Of(LocationId location, uint32_t k) const { return ids_[first_[location] + k]; }

  // The same entities in a profile whose locations are these entities, by number, with one frame
  // each.
  Entities OnePerLocation() const;

  // Those with the same number as one entity each; the first of them stands for it. `number_of`: by
  // entity.
  Entities Joined(const std::vector<uint32_t>& number_of) const;

  Granularity granularity() const { return granularity_; }
  size_t size() const { return entities_.size(); }
  const Entity& operator[](EntityId id) const { return entities_[id]; }

  // Whether calls within an entity are to be shown as one: a stack by modules would otherwise name
  // the same module ten times in a row.
  bool joins_calls() const {
    return granularity_ == Granularity::kFiles || granularity_ == Granularity::kModules;
  }

 private:
  Granularity granularity_ = Granularity::kFunctions;
  std::vector<uint32_t> first_;  // by location
  std::vector<EntityId> ids_;    // by frame of a location
  std::vector<Entity> entities_;
};

// What tells an entity from all others, also those of another profile of the same program.
std::string IdentityOf(const Profile& profile, const Entities& entities, EntityId id);

// An order by names, for those that have the same figures: that in which a profile happened to be
// read decides only where names do not. kNone comes last.
bool IsNamedBefore(const Profile& profile, const Entities& entities, EntityId a, EntityId b);

}  // namespace heapgauge
