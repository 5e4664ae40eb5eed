// Which sample types of a profile stand for which figures of a DHAT file: one table for both ways.
//
// Plain data and pure functions.
#pragma once

#include <vector>

#include "core/formats/dhat/dhat_file.h"
#include "core/model/types.h"

namespace heapgauge {

struct DhatType {
  SampleType type;
  uint64_t DhatPoint::*figure = nullptr;
};

// Of a file with these facts, in the order of the profile.
std::vector<DhatType> DhatTypes(const DhatFacts& facts);

// Nanoseconds of a unit of time, by its name in the file; 0 if it is none (instructions, bytes).
uint64_t DhatUnitNs(const std::string& unit);

}  // namespace heapgauge
