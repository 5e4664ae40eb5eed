// The flags that pprof and the perl tools have, and the words of a command line split by them.
//
// Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace heapgauge::cli {

// Who knows a flag.
enum FlagOwner : unsigned {
  kPprofFlag = 1,
  kJeprofFlag = 2,
  kGooglePprofFlag = 4,
  kPerlFlags = kJeprofFlag | kGooglePprofFlag,
  kOwnFlag = 8,  // ours
};

struct FlagKind {
  std::string name;
  bool takes_value = false;
  unsigned owners = 0;
};

// A flag as it was given.
struct GivenFlag {
  std::string name;
  std::string value;  // of a switch: "true" or "false"
  unsigned owners = 0;
  bool on() const { return value == "true"; }
};

struct SplitWords {
  std::vector<GivenFlag> flags;
  std::vector<std::string> positional;
};

// All flags, by name.
const std::vector<FlagKind>& AllFlags();

// Splits. `perl`: as the perl tools have it, unique beginnings of a name will do and case does not
// matter. Errors name the flag and the nearest one that exists.
Result<SplitWords> SplitFlags(const std::vector<std::string>& words, bool perl);

}  // namespace heapgauge::cli
