// Names for bare addresses, as remote clients ask for them. They have the addresses from a profile
// of ours and mostly decrease each by one, to be inside the call; but jeprof leaves the innermost
// as it is. So an address has to be told apart: is it a return address itself, or just before one?
//
//   1. An address that is on some stack of the profile is a return address: one below is meant. It
//      cannot be both, since return addresses are further apart than one.
//   2. One below an address of some stack is meant as it is.
//   3. Of others both readings are looked up. Where they are in two functions, the address is the
//      first of a function, which no call returns to: the call was the last thing in the function
//      before it.
//
// Modules are those of the profile, then what the process has mapped now. Of addresses that are on
// no stack, kMostOthers are looked up: more is nothing that a client would ask for.
//
//   AddressNames names(profile, maps);
//   Profile questions = names.Ask(addresses);
//   Symbolize(options, &questions);
//   auto answers = names.Answer(questions);
//
// Owned by one thread. The profile must outlive it.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/model/profile.h"

namespace heapgauge::endpoint {

class AddressNames {
 public:
  static constexpr size_t kMostOthers = 256 << 10;

  // `mapped`: more modules, of which the load bias need not be known.
  AddressNames(const Profile& profile, std::vector<Module> mapped);

  // A profile with the modules and one location for each way to read an address.
  Profile Ask(const std::vector<uint64_t>& addresses);
  // From the same profile with frames: names for each address that was asked, innermost first; none
  // where unknown.
  std::vector<std::vector<std::string>> Answer(const Profile& questions) const;

 private:
  // The locations of an address; kNone: that reading is not considered.
  struct Question {
    LocationId as_it_is = kNone;
    LocationId one_below = kNone;
  };

  // What is there from `start` up to the next range.
  struct Range {
    uint64_t start = 0;
    ModuleId module = kNone;
  };

  void CutIntoRanges();
  ModuleId ModuleAt(uint64_t address) const;
  Question Consider(uint64_t address, size_t* others, Profile* questions) const;

  const Profile& profile_;
  std::vector<Module> modules_;  // the profile's, then those mapped
  std::vector<Range> ranges_;
  std::unordered_map<uint64_t, ModuleId> on_stacks_;  // return addresses, and their modules
  std::vector<Question> questions_;
};

// What the process of the profile has mapped as code now; nothing if it is gone.
std::vector<Module> ReadMapsOf(const Profile& profile);

}  // namespace heapgauge::endpoint
