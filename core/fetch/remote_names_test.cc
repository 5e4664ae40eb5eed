#include "core/fetch/remote_names.h"

#include <gtest/gtest.h>

namespace heapgauge {
namespace {

Profile TwoModules() {
  Profile profile;
  profile.modules.resize(2);
  profile.modules[0].path = "/bin/server";
  profile.modules[0].start = 0x1000;
  profile.modules[1].path = "[vdso]";
  profile.modules[1].start = 0x9000;
  for (const uint64_t address : {0x1100, 0x1200, 0x9100}) {
    Location location;
    location.address = address;
    location.exact = true;
    location.module = address >= 0x9000 ? 1 : 0;
    profile.locations.push_back(location);
  }
  return profile;
}

std::string NameOf(const Profile& profile, LocationId id) {
  const Location& location = profile.locations[id];
  if (location.frame_count == 0) return "";
  return profile.functions[profile.frames[location.first_frame].function].name;
}

TEST(RemoteNamesTest, ReadsPagesOfSeveralServers) {
  const auto names = ParseSymbolPage(
      "num_symbols: 1\n0x12\tmain.f\n0xAB  std::map<int, int>::find\nnonsense\n0x\n0x77\n"
      "0x99 cut short");
  ASSERT_EQ(names.size(), 2u);
  EXPECT_EQ(names.at(0x12), "main.f");
  EXPECT_EQ(names.at(0xab), "std::map<int, int>::find");
}

TEST(RemoteNamesTest, NamesWhatTheServerKnows) {
  Profile profile = TwoModules();
  const Url url = *ParseUrl("http://h:1/pprof/heap");
  ModuleSources sources;
  AddModuleSources(profile, url, &sources);
  std::string asked;
  const AskForNames ask = [&](const Url& at, const std::string& addresses) -> Result<std::string> {
    asked += at.Text() + " " + addresses + "\n";
    return std::string("0x1100 f\n");
  };
  ASSERT_TRUE(NameByServers(sources, false, ask, &profile));
  EXPECT_EQ(asked, "http://h:1/pprof/symbol 0x1100+0x1200\n");
  EXPECT_EQ(NameOf(profile, 0), "f");
  EXPECT_EQ(NameOf(profile, 1), "");
  EXPECT_EQ(NameOf(profile, 2), "");
  EXPECT_TRUE(profile.modules[0].has_functions);

  asked.clear();
  ASSERT_TRUE(NameByServers(sources, false, ask, &profile));
  EXPECT_EQ(asked, "") << "has names already";
}

TEST(RemoteNamesTest, AddressesAreThoseOfTheServer) {
  Profile profile = TwoModules();
  ModuleSources sources;
  AddModuleSources(profile, *ParseUrl("http://h:1/pprof/heap"), &sources);
  // Merged with a profile that has the module elsewhere.
  profile.modules[0].start = 0x5000;
  profile.locations[0].address = 0x5100;
  profile.locations[1].address = 0x5200;
  const AskForNames ask = [](const Url&, const std::string& addresses) -> Result<std::string> {
    EXPECT_EQ(addresses, "0x1100+0x1200");
    return std::string("0x1200 g\n");
  };
  ASSERT_TRUE(NameByServers(sources, false, ask, &profile));
  EXPECT_EQ(NameOf(profile, 1), "g");
}

TEST(RemoteNamesTest, AServerThatFailsIsAnError) {
  Profile profile = TwoModules();
  ModuleSources sources;
  AddModuleSources(profile, *ParseUrl("http://h:1/pprof/heap"), &sources);
  const AskForNames ask = [](const Url&, const std::string&) -> Result<std::string> {
    return Fail(ErrorCode::kUnavailable, "gone");
  };
  EXPECT_FALSE(NameByServers(sources, false, ask, &profile));
}

}  // namespace
}  // namespace heapgauge
