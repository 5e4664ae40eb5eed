#include "core/voices/pprof/words/settings.h"

#include <gtest/gtest.h>

namespace heapgauge::pprof {
namespace {

std::string Get(const Settings& settings, const char* name) {
  return GetSetting(settings, *FindSetting(name));
}

TEST(SettingsTest, EveryOptionCanBeReadAndSetToWhatItIs) {
  for (const Setting& setting : AllSettings()) {
    Settings settings;
    const std::string value = GetSetting(settings, setting);
    ASSERT_TRUE(SetSetting(setting, value, &settings)) << setting.name;
    EXPECT_EQ(GetSetting(settings, setting), value) << setting.name;
    EXPECT_NE(SettingHelp(setting.name), nullptr) << setting.name;
  }
}

TEST(SettingsTest, EveryTextOptionHasAPlaceOfItsOwn) {
  Settings settings;
  for (const Setting& setting : AllSettings()) {
    if (setting.type != SettingType::kText) continue;
    ASSERT_TRUE(SetSetting(setting, setting.name, &settings));
  }
  for (const Setting& setting : AllSettings()) {
    if (setting.type != SettingType::kText) continue;
    EXPECT_EQ(GetSetting(settings, setting), setting.name);
  }
}

TEST(SettingsTest, TheDefaultsArePprofs) {
  const Settings settings;
  EXPECT_EQ(Get(settings, "unit"), "minimum");
  EXPECT_EQ(Get(settings, "nodecount"), "-1");
  EXPECT_EQ(Get(settings, "nodefraction"), "0.005");
  EXPECT_EQ(Get(settings, "edgefraction"), "0.001");
  EXPECT_EQ(Get(settings, "divide_by"), "1");
  EXPECT_EQ(Get(settings, "trim"), "true");
  EXPECT_EQ(Get(settings, "sort"), "flat");
  EXPECT_EQ(Get(settings, "granularity"), "functions");
}

TEST(SettingsTest, AChoiceIsFoundByEachOfItsWords) {
  ASSERT_NE(FindSetting("cum"), nullptr);
  EXPECT_STREQ(FindSetting("cum")->name, "sort");
  EXPECT_STREQ(FindSetting("addresses")->name, "granularity");
  Settings settings;
  ASSERT_TRUE(SetSetting(*FindSetting("granularity"), "lines", &settings));
  EXPECT_EQ(settings.config.granularity, Shape::kLines);
  const Status status = SetSetting(*FindSetting("sort"), "name", &settings);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "invalid \"sort\" value \"name\"");
}

TEST(SettingsTest, SwitchesTakeManyWords) {
  for (const char* word : {"", "1", "t", "T", "true", "TRUE", "y", "yes"}) {
    EXPECT_TRUE(ParseSwitch(word).value()) << word;
  }
  for (const char* word : {"0", "f", "False", "n", "no"}) EXPECT_FALSE(ParseSwitch(word).value());
  EXPECT_FALSE(ParseSwitch("maybe"));
}

TEST(SettingsTest, NumbersMustBeNumbers) {
  Settings settings;
  EXPECT_FALSE(SetSetting(*FindSetting("nodecount"), "many", &settings));
  EXPECT_FALSE(SetSetting(*FindSetting("nodecount"), "1.5", &settings));
  EXPECT_FALSE(SetSetting(*FindSetting("nodecount"), "", &settings));
  EXPECT_FALSE(SetSetting(*FindSetting("divide_by"), "2x", &settings));
  EXPECT_EQ(settings.config.node_count, -1);
}

TEST(SettingsTest, NumbersAreShownAsShortAsTheyCanBe) {
  EXPECT_EQ(NumberText(0), "0");
  EXPECT_EQ(NumberText(2.5), "2.5");
  EXPECT_EQ(NumberText(0.0001), "0.0001");
  EXPECT_EQ(NumberText(0.00001), "1e-05");
  EXPECT_EQ(NumberText(1e20), "100000000000000000000");
  EXPECT_EQ(NumberText(1e21), "1e+21");
}

}  // namespace
}  // namespace heapgauge::pprof
