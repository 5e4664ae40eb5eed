// What the frames of a profile are to a report: which entity each belongs to, and which of them
// only allocate.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/profile.h"

namespace heapgauge {

// What a line of a report stands for: a function, a source line, a file, a module or an address.
// Every frame of a profile belongs to one entity; which one depends on the granularity asked for.
enum class Granularity { kFunctions, kLines, kFiles, kModules, kAddresses };
inline constexpr size_t kGranularities = 5;

// "functions", "lines", ...
const char* GranularityName(Granularity granularity);

// What reports call functions: without template arguments and parameters unless these tell two of
// them apart, or as they are.
enum class Names { kShort, kWhole };

using EntityId = uint32_t;

struct Entity {
  FunctionId function = kNone;  // one that belongs to it
  ModuleId module = kNone;      // the module it was first met in
  LocationId location = kNone;  // the same
  uint32_t line = 0;            // kLines and kAddresses; 0 unknown
};

// The entities of a profile, and which one each of its frames belongs to.
//
// Functions are the same only if linker name and source file are; where no file is known, the
// module decides as well. So overloads, and static functions that happen to share a name, are never
// added up under one name.
//
// Built once from a profile, in time linear in its frames; read-only afterwards. Refers to the
// profile by ids only.
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

// Which frames belong to the act of allocating rather than to the program: malloc, operator new,
// the plumbing of std::allocator, the allocator's own library. Reports begin below them; otherwise
// every row would be "malloc".
//
// One list, with reasons, in the .cc file. Pure functions.

// True for a function (name as people read it) whose only job is to get memory for its caller.
bool IsAllocationFunction(std::string_view name);

// True for a library that is nothing but an allocator, or our own agent.
bool IsAllocatorModule(std::string_view path);

// The same list as one regular expression over names without parameters, for formats that carry
// such a list (pprof's drop_frames). Matches whole names.
std::string AllocationFunctionRegex();

// For each location the number of its innermost frames that only allocate (up to all of them). None
// in a profile that is not about memory: who asks where time goes wants to see malloc.
std::vector<uint32_t> CountAllocationFrames(const Profile& profile);

// A frame of a stack: the `k`th of the location at a node.
struct FramePlace {
  NodeId node = kNone;
  uint32_t k = 0;
};
// The frame that flat figures of this row go to; node kNone for an empty stack. `allocation_frames`
// is from CountAllocationFrames().
FramePlace FlatFrame(const Profile& profile, RowId row,
                     const std::vector<uint32_t>& allocation_frames);

}  // namespace heapgauge
