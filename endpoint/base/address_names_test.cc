#include "endpoint/base/address_names.h"

#include <gtest/gtest.h>

namespace heapgauge::endpoint {
namespace {

// Two functions side by side, [0x1100, 0x1200) and [0x1200, 0x1300), in a module from 0x1000.
Profile OneModule() {
  Profile profile;
  Module module;
  module.path = "/bin/program";
  module.start = 0x1000;
  module.end = 0x2000;
  profile.modules.push_back(module);
  return profile;
}

void AddReturnAddress(uint64_t address, ModuleId module, bool exact, Profile* profile) {
  Location location;
  location.address = address;
  location.module = module;
  location.exact = exact;
  profile->locations.push_back(location);
}

// Stands in for the symbolizer.
void Name(Profile* questions) {
  for (Location& location : questions->locations) {
    Function function;
    function.name = location.module == kNone ? "?" : questions->modules[location.module].path;
    if (location.address < 0x1100) {
      function.placeholder = true;
    } else {
      function.name += location.address < 0x1200 ? ":first" : ":second";
    }
    location.first_frame = static_cast<uint32_t>(questions->frames.size());
    location.frame_count = 1;
    questions->frames.push_back({static_cast<FunctionId>(questions->functions.size()), 0, false});
    questions->functions.push_back(function);
  }
}

std::string NameOf(const Profile& profile, uint64_t address, std::vector<Module> mapped = {}) {
  AddressNames names(profile, std::move(mapped));
  Profile questions = names.Ask({address});
  Name(&questions);
  const auto answers = names.Answer(questions);
  EXPECT_EQ(answers.size(), 1u);
  return answers[0].empty() ? "" : answers[0][0];
}

TEST(AddressNames, ReturnAddressOnAStackMeansTheCallBeforeIt) {
  Profile profile = OneModule();
  AddReturnAddress(0x1200, 0, false, &profile);
  EXPECT_EQ(NameOf(profile, 0x1200), "/bin/program:first");
  EXPECT_EQ(NameOf(profile, 0x11ff), "/bin/program:first");
}

TEST(AddressNames, ExactAddressIsWrittenOneAboveAndFoundAgain) {
  Profile profile = OneModule();
  AddReturnAddress(0x1200, 0, true, &profile);
  // The text has 0x1201, clients take one off or do not.
  EXPECT_EQ(NameOf(profile, 0x1200), "/bin/program:second");
  EXPECT_EQ(NameOf(profile, 0x1201), "/bin/program:second");
}

TEST(AddressNames, FirstAddressOfAFunctionIsTheEndOfACallInTheOneBefore) {
  const Profile profile = OneModule();
  EXPECT_EQ(NameOf(profile, 0x1200), "/bin/program:first");
  EXPECT_EQ(NameOf(profile, 0x1201), "/bin/program:second");
  EXPECT_EQ(NameOf(profile, 0x11ff), "/bin/program:first");
  // Nothing is before this one.
  EXPECT_EQ(NameOf(profile, 0x1100), "/bin/program:first");
}

TEST(AddressNames, AddressesOutsideOfModulesAndWithoutNamesHaveNone) {
  const Profile profile = OneModule();
  EXPECT_EQ(NameOf(profile, 0x1050), "");
  EXPECT_EQ(NameOf(profile, 0x5000), "");
  EXPECT_EQ(NameOf(profile, 0), "");
  EXPECT_EQ(NameOf(profile, ~uint64_t{0}), "");
}

TEST(AddressNames, LaterModuleOfTheProfileWinsAndWhatIsOnlyMappedComesLast) {
  Profile profile = OneModule();
  profile.modules.push_back(profile.modules[0]);
  profile.modules[1].path = "/lib/plugin.so";
  profile.modules[1].start = 0x1180;
  Module mapped = profile.modules[0];
  mapped.path = "/lib/mapped.so";
  mapped.end = 0x9000;
  EXPECT_EQ(NameOf(profile, 0x1150, {mapped}), "/bin/program:first");
  EXPECT_EQ(NameOf(profile, 0x1190, {mapped}), "/lib/plugin.so:first");
  EXPECT_EQ(NameOf(profile, 0x3000, {mapped}), "/lib/mapped.so:second");
  // On a stack the profile knows whose the address is.
  AddReturnAddress(0x1190, 0, false, &profile);
  EXPECT_EQ(NameOf(profile, 0x1190, {mapped}), "/bin/program:first");
}

TEST(AddressNames, LooksUpNoMoreStrangersThanItMay) {
  Profile profile = OneModule();
  profile.modules[0].end = uint64_t{1} << 40;
  AddReturnAddress(0x1200, 0, false, &profile);
  std::vector<uint64_t> flood;
  for (uint64_t i = 0; i < AddressNames::kMostOthers + 1000; ++i) flood.push_back(0x10000 + i);
  flood.push_back(0x1200);
  flood.push_back(0x1200);
  AddressNames names(profile, {});
  Profile questions = names.Ask(flood);
  EXPECT_EQ(questions.locations.size(), 2 * AddressNames::kMostOthers + 1);
  Name(&questions);
  const auto answers = names.Answer(questions);
  ASSERT_EQ(answers.size(), flood.size());
  EXPECT_FALSE(answers[0].empty());
  EXPECT_TRUE(answers[AddressNames::kMostOthers].empty());
  EXPECT_EQ(answers.back().at(0), "/bin/program:first");
}

}  // namespace
}  // namespace heapgauge::endpoint
