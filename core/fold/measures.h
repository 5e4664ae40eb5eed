// What the figures of a profile mean. Heap profiles know what is live and most know what was ever
// allocated, in bytes and in objects, under names that differ between formats; other profiles count
// something else. Reports ask here which columns there are, and what to call them.
//
// A pure function of the profile's sample types and its default type.
#pragma once

#include <cstddef>
#include <string>

#include "core/base/result.h"
#include "core/model/profile.h"

namespace heapgauge {

// Indexes into Profile::sample_types; kNone: the profile does not have it.
struct Measures {
  // What reports are about: live bytes, or the profile's default type.
  size_t main = kNone;
  size_t objects = kNone;            // that the main figure is the size of
  size_t allocated = kNone;          // bytes ever allocated, beside live ones
  size_t allocated_objects = kNone;  // the same in objects

  std::string name = "live";   // of the main figure, as a heading
  std::string type;            // the name of its sample type
  std::string unit = "bytes";  // of the main figure
  bool is_change = false;      // the main figure has a sign: what was added or went away
  bool is_memory = false;    // the profile is about memory: frames that only allocate are left out
  bool has_samples = false;  // rows know on how many samples they rest

  bool has_objects() const { return objects != kNone; }
  bool has_allocated() const { return allocated != kNone; }
};

Measures MeasuresOf(const Profile& profile);
// The same about blocks: the objects of the main figure take its place, and nothing is beside them.
// REQUIRES: MeasuresOf(profile).has_objects()
Measures CountsOf(const Profile& profile);

// Makes the type of that name (or number) the default one. As with pprof, "inuse_space" also means
// "space". Fails with the names that there are.
Status ChooseType(const std::string& name, Profile* profile);

// Says how sure the figures are where the file only tells the mean bytes between samples (pprof's
// period of "space", "bytes") and the values are final: a row of n objects and s bytes rests on
// about n (1 - exp(-s/n/period)) samples. Does nothing if estimates are there, or cannot be.
void EstimateFromPeriod(Profile* profile);

// Whether AddFreed can tell.
bool KnowsFreed(const Profile& profile);

// What was freed, of a profile that counts all that was allocated and what is live: the difference,
// stack by stack.
//
// Samples of live blocks are among those of all blocks, and each was taken by a toss of its own. So
// the samples of freed blocks are those that are left, and variances differ as the figures do.
//
// Adds the types freed_objects and freed_space; the default type is the second, or the first if
// objects are asked for. A stack that has more live than was allocated in it (blocks that a forked
// process has from its parent) freed nothing. Fails if the profile does not count allocations.
Status AddFreed(bool objects, Profile* profile);

}  // namespace heapgauge
