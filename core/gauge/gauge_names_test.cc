#include "core/gauge/gauge_names.h"

#include <gtest/gtest.h>
#include <zstd.h>

#include <cstring>
#include <random>

#include "core/gauge/gauge_reader.h"
#include "core/gauge/testing/gauge_builder.h"

namespace heapgauge {
namespace {

using ::heapgauge::testing::GaugeBuilder;

std::string GaugeWithOneStack() {
  GaugeBuilder builder;
  builder.AddModule("/nowhere/server", 0x1000, 0x9000);
  const uint32_t stack = builder.AddStack({0x1234, 0x2345});
  builder.AddLive(stack, 4096);
  return builder.Build();
}

// Names for the inner location only: a function that was inlined into another.
Profile NamedProfile(const std::string& gauge) {
  Profile profile = *ReadGauge(MemorySource(gauge), "test");
  profile.functions = {{"Inner(int)", "_Z5Inneri", "inner.cc"},
                       {"Outer()", "_Z5Outerv", "outer.cc"},
                       {"server+0x2344", "", "", true}};
  for (Location& location : profile.locations) {
    location.first_frame = static_cast<uint32_t>(profile.frames.size());
    if (location.address == 0x1234) {
      profile.frames.push_back({0, 12, true});
      profile.frames.push_back({1, 34, false});
      location.frame_count = 2;
    } else {
      profile.frames.push_back({2, 0, false});
      location.frame_count = 1;
    }
  }
  profile.modules[0].has_functions = true;
  profile.modules[0].has_lines = true;
  return profile;
}

const Location& At(const Profile& profile, uint64_t address) {
  for (const Location& location : profile.locations) {
    if (location.address == address) return location;
  }
  ADD_FAILURE() << "no location at " << address;
  return profile.locations[0];
}

TEST(GaugeNames, ComeBackAsTheyWereSaved) {
  const std::string gauge = GaugeWithOneStack();
  const std::string saved = *WithNames(gauge, *EncodeNames(NamedProfile(gauge)));
  const auto profile = ReadGauge(MemorySource(saved), "test");
  ASSERT_TRUE(profile) << profile.error().message;
  ASSERT_TRUE(profile->Check());
  const Location& inner = At(*profile, 0x1234);
  ASSERT_EQ(inner.frame_count, 2u);
  const Frame& first = profile->frames[inner.first_frame];
  EXPECT_EQ(profile->functions[first.function].name, "Inner(int)");
  EXPECT_EQ(profile->functions[first.function].system_name, "_Z5Inneri");
  EXPECT_EQ(profile->functions[first.function].file, "inner.cc");
  EXPECT_EQ(first.line, 12u);
  EXPECT_TRUE(first.inlined);
  const Frame& second = profile->frames[inner.first_frame + 1];
  EXPECT_EQ(profile->functions[second.function].name, "Outer()");
  EXPECT_FALSE(second.inlined);
  EXPECT_TRUE(profile->modules[0].has_lines);
}

TEST(GaugeNames, LeaveWhatHadNoNameOpen) {
  const std::string gauge = GaugeWithOneStack();
  const std::string saved = *WithNames(gauge, *EncodeNames(NamedProfile(gauge)));
  EXPECT_EQ(At(*ReadGauge(MemorySource(saved), "test"), 0x2345).frame_count, 0u);
}

TEST(GaugeNames, ReplaceEarlierOnes) {
  const std::string gauge = GaugeWithOneStack();
  Profile profile = NamedProfile(gauge);
  const std::string once = *WithNames(gauge, *EncodeNames(profile));
  profile.functions[0].name = "Renamed()";
  const std::string twice = *WithNames(once, *EncodeNames(profile));
  EXPECT_EQ(twice.size(), once.size());
  const Profile read = *ReadGauge(MemorySource(twice), "test");
  EXPECT_EQ(read.functions[read.frames[At(read, 0x1234).first_frame].function].name, "Renamed()");
}

TEST(GaugeNames, TakeManySegments) {
  const std::string gauge = GaugeWithOneStack();
  Profile profile = NamedProfile(gauge);
  std::mt19937 random(1);
  std::string long_name;  // that does not compress
  for (int i = 0; i < 300'000; ++i) long_name += static_cast<char>('!' + random() % 90);
  profile.functions[0].name = long_name;
  const std::string saved = *WithNames(gauge, *EncodeNames(profile));
  EXPECT_GT(saved.size(), gauge.size() + 3 * wire::kSegmentBytes);
  const Profile read = *ReadGauge(MemorySource(saved), "test");
  EXPECT_EQ(read.functions[read.frames[At(read, 0x1234).first_frame].function].name, long_name);
}

TEST(GaugeNames, AFileWithoutNamesIsReadAsBefore) {
  EXPECT_EQ(At(*ReadGauge(MemorySource(GaugeWithOneStack()), "test"), 0x1234).frame_count, 0u);
}

TEST(GaugeNames, DamageAtAnyByteCostsTheNamesAtMost) {
  const std::string gauge = GaugeWithOneStack();
  const std::string names = *EncodeNames(NamedProfile(gauge));
  const std::string saved = *WithNames(gauge, names);
  int refused = 0;
  for (size_t i = 0; i < names.size(); ++i) {
    for (const char change : {'\x01', '\x80', '\xff'}) {
      std::string damaged = saved;
      damaged[gauge.size() + i] = static_cast<char>(damaged[gauge.size() + i] ^ change);
      const auto profile = ReadGauge(MemorySource(damaged), "test");
      ASSERT_TRUE(profile) << i << ": " << profile.error().message;
      ASSERT_TRUE(profile->Check()) << i;
      ASSERT_EQ(profile->blocks.size(), 1u);
      if (profile->notes.empty()) continue;
      EXPECT_NE(profile->notes[0].find("names in 'test' are damaged"), std::string::npos);
      EXPECT_TRUE(profile->frames.empty());
      ++refused;
    }
  }
  EXPECT_GT(refused, 0);
}

// The plain bytes that EncodeNames has packed, and the other way round.
std::string Unpacked(const std::string& names) {
  uint64_t size = 0;
  std::memcpy(&size, names.data(), sizeof size);
  std::string plain(size, '\0');
  EXPECT_EQ(
      ZSTD_decompress(plain.data(), size, names.data() + sizeof size, names.size() - sizeof size),
      size);
  return plain;
}
std::string Packed(const std::string& plain) {
  const uint64_t size = plain.size();
  std::string names(sizeof size + ZSTD_compressBound(size), '\0');
  std::memcpy(names.data(), &size, sizeof size);
  names.resize(sizeof size + ZSTD_compress(names.data() + sizeof size, names.size() - sizeof size,
                                           plain.data(), size, 1));
  return names;
}

TEST(GaugeNames, LocationsThatShareFramesAreRefused) {
  const std::string gauge = GaugeWithOneStack();
  Profile profile = NamedProfile(gauge);
  profile.functions[2].placeholder = false;
  std::string plain = Unpacked(*EncodeNames(profile));
  const auto notes = [&] {
    return ReadGauge(MemorySource(*WithNames(gauge, Packed(plain))), "test")->notes.size();
  };
  ASSERT_EQ(notes(), 0u);
  // Behind the head and one module, the second of the locations: its first frame and their number.
  const uint32_t all_frames[] = {0, 3};
  std::memcpy(plain.data() + 24 + 4 + 24 + 16, all_frames, sizeof all_frames);
  EXPECT_EQ(notes(), 1u);
}

TEST(GaugeNames, ALengthBeyondTheSegmentsCostsTheNamesAtMost) {
  const std::string gauge = GaugeWithOneStack();
  std::string saved = *WithNames(gauge, *EncodeNames(NamedProfile(gauge)));
  const uint32_t absurd = 0xffffffff;
  saved.replace(offsetof(wire::Header, names_bytes), sizeof absurd,
                reinterpret_cast<const char*>(&absurd), sizeof absurd);
  const auto profile = ReadGauge(MemorySource(saved), "test");
  ASSERT_TRUE(profile);
  EXPECT_EQ(profile->notes.size(), 1u);
}

}  // namespace
}  // namespace heapgauge
