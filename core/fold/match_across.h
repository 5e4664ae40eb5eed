// Which entities of several profiles are the same thing: functions, files or modules of two builds
// of a program, of builds in two directories, or as two tools have recorded them.
//
// What is the same in all that identifies it (IdentityOf) is the same thing. Of the rest, names
// decide, as the linker has them, as people read them, or without parameters (and modules without
// the version of a library): first with the last few components of the path that they come with,
// then with ever fewer, at last functions by name alone, unless they are known to be in modules of
// different names. A name decides only where it means no more than one thing in each of the
// profiles. So two modules of one base name stay apart, and so do functions of one name in
// different files of the very same build. Addresses, and names that are no more than an address,
// mean something in one build only.
//
// Pure; time is linear in the number of entities.
#pragma once

#include <cstdint>
#include <vector>

#include "core/fold/frames.h"
#include "core/model/profile.h"

namespace heapgauge {

// One of the profiles. Both must outlive the call.
struct MatchSide {
  const Profile* profile = nullptr;
  const Entities* entities = nullptr;
};

struct MatchedEntities {
  size_t things = 0;
  std::vector<std::vector<uint32_t>> thing_of;  // by side, then by entity; below `things`
};

// REQUIRES: all entities are of one granularity.
MatchedEntities MatchAcross(const std::vector<MatchSide>& sides);

}  // namespace heapgauge
