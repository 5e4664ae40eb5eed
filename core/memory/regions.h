// The regions of a process's memory as a map shows them: each with its owner, how much of it is in
// memory, changed or swapped out, and, of the heap, what the samples say lives there.
//
// Pure functions; plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/memory/survey.h"
#include "core/model/profile.h"

namespace heapgauge {

struct Region {
  uint64_t start = 0;
  uint64_t end = 0;
  Owner owner = Owner::kUnknown;
  std::string name;         // as the kernel has it; "" none
  std::string permissions;  // "rw-p"
  uint64_t resident = 0;
  // Where one mapping has several owners, shared out by what each has in memory.
  uint64_t dirty = 0;
  uint64_t swapped = 0;
  // By samples.
  double live_bytes = 0;
  uint64_t samples = 0;
  RowId largest = kNone;  // the stack with the most of it
  double largest_bytes = 0;
};

// All regions of one owner.
struct OwnerSum {
  Owner owner = Owner::kUnknown;
  uint64_t regions = 0;
  uint64_t bytes = 0;
  uint64_t resident = 0;
  uint64_t dirty = 0;
  uint64_t swapped = 0;
  double live_bytes = 0;
};

struct Regions {
  std::vector<OwnerSum> owners;  // most resident first
  std::vector<Region> regions;   // by address
  uint64_t left_out = 0;         // regions beyond `most`, those with the least in memory
  uint64_t left_out_resident = 0;
};

// Neighbours of one owner and name are one region. `profile` has the sampled blocks; it may be of
// another moment, or have none.
Regions RegionsOf(const MemorySurvey& survey, const Profile& profile, size_t most);

}  // namespace heapgauge
